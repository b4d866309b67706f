"""A document of 300,000 characters, made of the shared real ones."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from review.rules import list_rules, run_rule
from review.types import RuleOutcome
from tests.review.markdown import rule_input
from tests.shipped_topics import load_topics

CHARACTERS = 300_000


@pytest.mark.long
@pytest.mark.timeout(240)
def test_every_rule_judges_a_document_of_300_000_characters(test_data: Path):
    files = sorted(test_data.glob("review/documents/*.md")) + sorted(test_data.glob("documents/*.md"))
    text = ""
    for path in cycle(files):
        text += path.read_text(encoding="utf-8") + "\n\n"
        if len(text) >= CHARACTERS:
            break
    target = rule_input(text[:CHARACTERS], topics=load_topics("basic_design"))

    outcomes = {rule.id: run_rule(rule.id, target) for rule in list_rules()}

    assert {rule for rule, outcome in outcomes.items() if not isinstance(outcome, RuleOutcome)} == set()
