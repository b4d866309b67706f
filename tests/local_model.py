"""A real small language model in a process of its own, for the tests that a scripted server can't stand for.

The packages that it needs are not among the hub's: HUB_TEST_LLM_PYTHON names a Python that has them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conftest import REPOSITORY
from tools.local_model import RUNTIME, WEIGHTS

END_LIMIT_S = 20


@contextmanager
def local_model() -> Iterator[str]:
    """Serve the model and give its base URL; skip where the packages are missing."""
    python = os.environ.get("HUB_TEST_LLM_PYTHON") or sys.executable
    found = subprocess.run([python, "-c", f"import {RUNTIME}, {WEIGHTS}"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"{python} has no {RUNTIME} and {WEIGHTS}; name one that has in HUB_TEST_LLM_PYTHON")
    served = subprocess.Popen(
        [python, str(REPOSITORY / "tools" / "local_model.py"), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert served.stdout is not None
        url = served.stdout.readline().strip()
        assert url, "the local model's server ended at its start"
        yield url
    finally:
        served.terminate()
        served.wait(END_LIMIT_S)
        if served.stdout:
            served.stdout.close()
