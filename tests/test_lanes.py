"""The fast lane leaves out what is there to be left out, and holds the rest."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.lanes import SHARE_A_HUB, SLOW, SLOW_S, START_THEIR_OWN, group_of, is_slow, known_duration
from tools.test_durations import DURATIONS, as_lines, read_report

FILES = [path.relative_to(REPOSITORY).as_posix() for path in sorted((REPOSITORY / "tests").rglob("test_*.py"))]


@pytest.mark.parametrize("pattern", SLOW)
def test_what_is_left_out_is_there(pattern: str) -> None:
    assert any(fnmatch(path, pattern) for path in FILES)


def test_rules_and_readers_of_text_are_in_the_fast_lane() -> None:
    for folder in ("tests/review/rules/", "tests/knowledge/text/", "tests/knowledge/search/"):
        assert not all(is_slow(path) for path in FILES if path.startswith(folder))


def test_files_that_took_long_are_left_out_whatever_they_do() -> None:
    noted = [line.split() for line in DURATIONS.read_text(encoding="utf-8").splitlines()]
    assert not [path for seconds, path in noted if int(seconds) >= SLOW_S and not is_slow(path)]


@pytest.mark.parametrize("folder", SHARE_A_HUB)
def test_a_folder_that_shares_a_hub_is_run_by_one_process(folder: str) -> None:
    inside = [path for path in FILES if path.startswith(f"{folder}/test_") and path not in START_THEIR_OWN]
    assert len(inside) > 1
    assert {group_of(path) for path in inside} == {folder}


@pytest.mark.parametrize("path", START_THEIR_OWN)
def test_a_file_that_is_taken_by_any_process_uses_no_hub_of_others(path: str) -> None:
    assert group_of(path) == path
    assert not re.search(r"^def \w+\([^)]*\bhub\b[,)]", (REPOSITORY / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_durations_are_of_files_that_are_there() -> None:
    assert {line.split()[1] for line in DURATIONS.read_text(encoding="utf-8").splitlines()} <= set(FILES)


def test_what_shares_a_hub_takes_as_long_as_all_of_it() -> None:
    alone = known_duration("tests/access/test_matrix.py")
    assert alone > known_duration("tests/test_lanes.py") == 0
    assert known_duration("tests/mcp_bridge/test_stdio.py") == known_duration("tests/mcp_bridge/test_http.py") > 0


def test_the_seconds_of_a_report_are_added_up_by_file(tmp_path: Path) -> None:
    cases = (("tests.test_lanes", 1.5), ("tests.test_lanes.TestOfAClass", 1.2), ("tests.test_config", 0.4))
    lines = [f'<testcase classname="{name}" name="test" time="{seconds}" />' for name, seconds in cases]
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{''.join(lines)}</testsuite></testsuites>")
    assert as_lines(read_report(report)) == "   3 tests/test_lanes.py\n"
