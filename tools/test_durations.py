"""Note how long each file of tests took, for the order in which the suite begins them: the longest first.

``python -m tools.test_durations report.xml`` reads what ``pytest --junitxml=report.xml`` wrote, and writes
``tests/durations.txt``: for each file that took LEAST_S or more, its seconds and its path. ``make durations`` runs the
suite and then this. A file that is not among them is begun late, so that a long new one makes the suite longer, and
nothing else.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

REPOSITORY = Path(__file__).resolve().parents[1]
DURATIONS = REPOSITORY / "tests" / "durations.txt"
LEAST_S = 2


def file_of(classname: str) -> str:
    """Give the path of a test's file, below the repository, from its module and class as the report names them."""
    parts = classname.split(".")
    paths = ("/".join(parts[:end]) + ".py" for end in range(len(parts), 0, -1))
    return next(path for path in paths if (REPOSITORY / path).is_file())


def read_report(report: Path) -> dict[str, float]:
    """Add up the seconds of each file's tests, with their fixtures."""
    seconds: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 (the report is our own)
        seconds[file_of(case.attrib["classname"])] += float(case.attrib["time"])
    return seconds


def as_lines(seconds: Mapping[str, float]) -> str:
    """List the files that took long, in the order of their paths."""
    return "".join(f"{spent:4.0f} {path}\n" for path, spent in sorted(seconds.items()) if spent >= LEAST_S)


def main() -> None:
    DURATIONS.write_text(as_lines(read_report(Path(sys.argv[1]))), encoding="utf-8")


if __name__ == "__main__":
    main()
