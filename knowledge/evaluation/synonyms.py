"""Which saved questions a draft of an ontology would have searched otherwise: by synonyms that it adds or drops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hub.access.principals import HubRight, Principal
from knowledge.evaluation.questions import saved_queries
from knowledge.models import Ontology
from knowledge.ontology.store import concepts_with, expand_by, named_concepts
from knowledge.text.folding import fold_case

MOST_QUESTIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionChange:
    """A question with the synonyms that it is searched by only with the draft, and only without it."""

    question: str
    added: Sequence[str]
    dropped: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionChanges:
    """``looked_at`` counts the questions, each once, however many cases ask it."""

    changes: Sequence[QuestionChange]
    looked_at: int


def questions_read_otherwise(principal: Principal, draft: Ontology) -> QuestionChanges:
    """Expand the last MOST_QUESTIONS saved questions that the caller may see, as published and with a draft.

    Three or four queries. Raises Forbidden.
    """
    principal.require_hub(HubRight.ONTOLOGIES)
    cases = saved_queries(principal)[:MOST_QUESTIONS]
    questions = list(dict.fromkeys(str(case.input["query"]) for case in cases))
    published, drafted = named_concepts(), concepts_with(draft)
    changes = []
    for question in questions:
        before, after = _names(expand_by(question, published)), _names(expand_by(question, drafted))
        if before.keys() != after.keys():
            added = [after[one] for one in after if one not in before]
            dropped = [before[one] for one in before if one not in after]
            changes.append(QuestionChange(question=question, added=added, dropped=dropped))
    return QuestionChanges(changes=changes, looked_at=len(questions))


def _names(words: Iterable[str]) -> dict[str, str]:
    """Words by what searches make of them: spellings that are the same to them count once."""
    return {fold_case(word): word for word in reversed(list(words))}
