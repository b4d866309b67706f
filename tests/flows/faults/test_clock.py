"""The machine's clock jumps ahead and back while documents come in."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.flows.faults.work import STALLED_S, assert_whole, upload_all, wait_until_ready, write_files
from tests.flows.hub_process import HubProcess, start_hub

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

# Loaded before the C library, it adds the seconds that a file holds to the time of day; monotonic clocks stay right.
SHIFT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) {
    long seconds = 0;
    FILE *file = fopen(getenv("CLOCK_SHIFT"), "r");
    if (file) { if (fscanf(file, "%ld", &seconds) != 1) seconds = 0; fclose(file); }
    return seconds;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += shift();
    return failed;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""
HOUR_S, MINUTE_S = 3600, 60


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The library above, compiled."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler (cc), by which a clock is made that jumps")
    source, made = tmp_path / "shift.c", tmp_path / "shift.so"
    source.write_text(SHIFT)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"], check=True)
    return made


def wait_until_sealed(hub: HubProcess) -> None:
    """Wait until the lines that have the time of a clock that was behind are sealed: 30 seconds, as a rule."""
    deadline = time.monotonic() + STALLED_S
    while "lines wait to be sealed" in (said := hub.manage("doctor", check=False).stdout):
        assert time.monotonic() < deadline, said
        time.sleep(1)


def test_a_clock_that_jumps_loses_no_work_and_shuts_nobody_out(library: Path, tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("0")
    hub = start_hub(tmp_path / "data", "--no-sample", LD_PRELOAD=str(library), CLOCK_SHIFT=str(clock))
    try:
        ids: list[str] = []
        for number, seconds in enumerate((3 * HOUR_S, -20 * MINUTE_S, 0)):
            ids += upload_all(hub, write_files(tmp_path, 6, first=10 * number))
            clock.write_text(str(seconds))
            seen = float(hub.manage("shell", "-v", "0", "-c", "import time; print(time.time())").stdout)
            assert abs(seen - time.time() - seconds) < MINUTE_S, seen
        wait_until_ready(hub)
        wait_until_sealed(hub)  # scheduled work goes on, though it last ran by a clock that was hours ahead
        assert_whole(hub, ids)
        found = hub.call("POST", "/search", json={"query": "申請書を受け付ける担当者"})
        assert found.json()["results"]
        verified = hub.manage("audit", "verify", check=False)
        assert verified.returncode == 0, verified.stdout + verified.stderr
    finally:
        hub.stop()
