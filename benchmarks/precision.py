"""Count how often findings of each kind are right, and write it to ``review/data/precision.json``.

Findings of real documents that people judged (`benchmarks.judged`) count first: those that hold, whether or not
somebody would act on them. They make a kind sure while all of them are left as they were at first shot.

For kinds without any, ``python -m benchmarks.precision`` holds the rules against judged rows: ``tests/held_out`` and
``review`` below HUB_TEST_DATA, or each ``--judged FOLDER`` (``gold.jsonl`` and ``documents/``). A finding that answers
a row counts as judged for its kind, and as right where a reader expected the defect. The rules were mended for these
rows, and ``benchmarks/data/first_shot.json`` is of defects that somebody put in, which says nothing of how often a rule
speaks without one: neither makes a kind sure. ``--write`` replaces the table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
django.setup()

from benchmarks.first_shot.outputs import read_lines  # noqa: E402 (needs the settings)
from benchmarks.judged import FINDINGS, counts_by_kind  # noqa: E402
from hub.evaluation.cases import review_case  # noqa: E402
from knowledge.ontology.shipped_files import TOPIC_FILES, read_topic  # noqa: E402
from knowledge.parsers import ParseLimits  # noqa: E402
from knowledge.parsers.registry import parse_file  # noqa: E402
from knowledge.text.structure import build_sections  # noqa: E402
from knowledge.types.requirements import Topic  # noqa: E402
from review.evaluation.cases import rows_of  # noqa: E402
from review.evaluation.gold_list import to_cases  # noqa: E402
from review.evaluation.matching import Defect, Said, answer  # noqa: E402
from review.rules import RuleCrash, run_rule  # noqa: E402
from review.rules.certainty import Precision, certainty_of, kind_of  # noqa: E402
from review.types import RelatedDocument, RuleInput  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("HUB_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
TABLE = REPOSITORY / "review" / "data" / "precision.json"
FIRST_SHOT = REPOSITORY / "benchmarks" / "data" / "first_shot.json"
RELATED = {"D1": "D2"}
JUDGED = (DATA / "review", REPOSITORY / "tests" / "held_out")
TYPES = {"設計書": "basic_design", "要件定義書": "requirements", "テスト計画書": "test_plan"}
TOPIC_RULES = ("coverage.missing_topic", "coverage.empty_section")


@cache
def topics_of(document_type: str) -> tuple[Topic, ...]:
    """Return the shipped topics for a type of document."""
    domains = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(TOPIC_FILES.glob("*.json"))]
    found = [domain for domain in domains if document_type in domain.get("document_types", ())]
    return tuple(read_topic(entry) for domain in found for entry in domain.get("topics", ()))


@cache
def target_of(path: Path) -> RuleInput:
    parsed = parse_file(path, filename=path.name, limits=ParseLimits())
    document_type = next((code for word, code in TYPES.items() if word in path.name), "basic_design")
    return RuleInput(
        text=parsed.markdown,
        title=parsed.title or "",
        document_type=document_type,
        sections=build_sections(parsed.markdown, parsed.blocks),
        blocks=parsed.blocks,
        topics=topics_of(document_type),
    )


@cache
def defects_of(path: Path, rule: str) -> tuple[Defect, ...]:
    target = target_of(path)
    if other := next(path.parent.glob(f"{RELATED.get(path.name[:2], 'none')}*"), None):
        beside = target_of(other)
        names = ("title", "document_type", "text", "sections", "blocks")
        related = RelatedDocument(document_id="other", **{name: getattr(beside, name) for name in names})
        target = replace(target, related=(related,))
    outcome = run_rule(rule, target)
    if isinstance(outcome, RuleCrash):
        raise SystemExit(outcome.message.en)
    return tuple(
        Defect(
            rule_id=rule,
            data=found.data,
            spans=tuple((span.start, span.end) for span in found.evidence if not span.document),
        )
        for found in outcome.findings
    )


def count(folder: Path) -> tuple[Counter[str], Counter[str]]:
    """Return by kind how many findings answer a judged row, and how many of them a reader expected."""
    judged, right = Counter[str](), Counter[str]()
    lines = (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    for case in to_cases(rows_of([json.loads(line) for line in lines]))[0]:
        asked = review_case(case.fields).input
        path = folder / "documents" / str(case.fields["path"])
        text = target_of(path).text
        for rule in asked.get("rule_ids", TOPIC_RULES):
            for defect in defects_of(path, rule):
                if answer(asked, Said(decided=True, defects=[defect]), text) != "pass":
                    kind = kind_of(rule, defect.data)
                    judged[kind] += 1
                    right[kind] += case.fields["expected_verdict"] == "fail"
    return judged, right


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judged", type=Path, action="append", metavar="FOLDER")
    parser.add_argument("--write", action="store_true", help="replace review/data/precision.json")
    given = parser.parse_args(arguments)
    judged, right = Counter[str](), Counter[str]()
    for folder in given.judged or JUDGED:
        more, more_right = count(folder)
        judged.update(more)
        right.update(more_right)
    planted = json.loads(FIRST_SHOT.read_text(encoding="utf-8"))["kinds"]
    kinds = {kind: {"right": right[kind], "judged": judged[kind], "mended_for": True} for kind in judged}
    kinds |= {kind: counts | {"mended_for": True} for kind, counts in planted.items()}
    kinds |= counts_by_kind(read_lines(FINDINGS))
    kinds = dict(sorted(kinds.items()))
    for kind, counts in kinds.items():
        is_first = "mended_for" not in counts
        found = Precision(right=counts["right"], judged=counts["judged"], is_own=True, is_first_shot=is_first)
        said = f"{found.right:3} of {found.judged:3}  {found.bound:.3f}  {certainty_of(found.bound)}"
        print(f"{kind:50} {said}")
    if given.write:
        why = "How many findings of a kind people judged, and how many of them hold. Written by benchmarks.precision."
        TABLE.write_text(json.dumps({"why": why, "kinds": kinds}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
