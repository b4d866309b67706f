"""The table of branch coverage sums files by package and names what falls short."""

from __future__ import annotations

from tests.conftest import REPOSITORY
from tools.coverage_table import PACKAGES, Covered, table


def test_every_package_of_the_table_is_there() -> None:
    assert [package for package in PACKAGES if not (REPOSITORY / package).is_dir()] == []


def test_files_are_summed_by_package_and_what_falls_short_is_named_by_file() -> None:
    lines, short = table(
        {
            "review/rules/style/a.py": Covered(run=10, statements=10, taken=9, branches=10),
            "review/rules/catalogue.py": Covered(run=8, statements=10, taken=6, branches=10),
            "review/lint/texts.py": Covered(run=5, statements=5, taken=9, branches=10),
            "hub/core/texts.py": Covered(run=1, statements=9, taken=0, branches=9),
        }
    )
    assert short == ["review/rules"]
    assert "| `review/rules` | 20 | 90.0 % | 20 | 75.0 % |" in lines
    assert "| `review/lint` | 5 | 100.0 % | 10 | 90.0 % |" in lines
    assert lines[-2:] == ["    4 review/rules/catalogue.py", "    1 review/rules/style/a.py"]
