"""Show the branch coverage of rules, services and access by package, from the data that ``pytest --cov`` left.

``python -m tools.coverage_table`` prints a Markdown table and, below it, the files of a package in which many branches
are not taken. It exits 1 when a package has less than LEAST_PERCENT of its branches taken. ``make coverage`` runs the
suite and then this.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

LEAST_PERCENT = 90
PACKAGES = (
    "review/rules",
    "review/curation",
    "review/evaluation",
    "review/judging",
    "review/lint",
    "review/masters",
    "review/report",
    "review/runs",
    "review/triage",
    "knowledge/answering",
    "knowledge/documents",
    "knowledge/embedding_sets",
    "knowledge/graph",
    "knowledge/guidelines",
    "knowledge/index",
    "knowledge/ingest",
    "knowledge/ontology",
    "knowledge/search",
    "hub/access",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """How many statements were run and how many branches were taken, of how many."""

    run: int = 0
    statements: int = 0
    taken: int = 0
    branches: int = 0

    def __add__(self, other: Covered) -> Covered:
        return Covered(
            run=self.run + other.run,
            statements=self.statements + other.statements,
            taken=self.taken + other.taken,
            branches=self.branches + other.branches,
        )

    @property
    def statement_percent(self) -> float:
        return 100 * self.run / self.statements if self.statements else 100.0

    @property
    def branch_percent(self) -> float:
        return 100 * self.taken / self.branches if self.branches else 100.0


def read_files(measured: Coverage) -> dict[str, Covered]:
    """What was measured of each file, by its path below the repository."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        measured.json_report(outfile=report.name)
        files = json.loads(Path(report.name).read_text(encoding="utf-8"))["files"]
    return {
        path: Covered(
            run=facts["summary"]["covered_lines"],
            statements=facts["summary"]["num_statements"],
            taken=facts["summary"]["covered_branches"],
            branches=facts["summary"]["num_branches"],
        )
        for path, facts in files.items()
    }


def by_package(files: Mapping[str, Covered]) -> dict[str, Covered]:
    """The sums over the files of each of PACKAGES; a package without files is left out."""
    sums: dict[str, Covered] = {}
    for package in PACKAGES:
        inside = [covered for path, covered in files.items() if path.startswith(f"{package}/")]
        if inside:
            sums[package] = sum(inside, Covered())
    return sums


def table(files: Mapping[str, Covered]) -> tuple[list[str], list[str]]:
    """The lines to show, and the packages that have too few branches taken."""
    lines = ["| package | statements | run | branches | taken |", "|---|---:|---:|---:|---:|"]
    short = []
    for package, all_of_it in by_package(files).items():
        run, taken = f"{all_of_it.statement_percent:.1f} %", f"{all_of_it.branch_percent:.1f} %"
        lines.append(f"| `{package}` | {all_of_it.statements:,} | {run} | {all_of_it.branches:,} | {taken} |")
        if all_of_it.branch_percent < LEAST_PERCENT:
            short.append(package)
    for package in short:
        inside = {path: one.branches - one.taken for path, one in files.items() if path.startswith(f"{package}/")}
        lines += ["", f"{package}: branches not taken, by file"]
        lines += [f"{inside[path]:5} {path}" for path in sorted(inside, key=lambda path: -inside[path]) if inside[path]]
    return lines, short


def main() -> int:
    """Print the table; 1 while a package has too few branches taken."""
    measured = Coverage()
    measured.load()
    lines, short = table(read_files(measured))
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
