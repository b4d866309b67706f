"""Several answers of a model to one check, put together without averaging their disagreement away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from hub.core.texts import Text
from review.judging import notices
from review.judging.types import Consultation, Opinion
from review.types import FindingDraft, Verdict

PASSING = frozenset({Verdict.PASS, Verdict.WARNING})


def combine(votes: Sequence[Opinion]) -> Opinion:
    """Conclude from votes in their order; one vote is its own conclusion.

    A pass is unanimous (a warning among them makes a warning), a fail has more than half of the votes. Errors agree
    only with each other. Anything else is skipped, for a person. Findings of all votes are kept and tell in how many
    they came. The score is the least one, since a mean would hide the dissent.
    """
    if len(votes) == 1:
        return votes[0]
    verdicts = [vote.verdict for vote in votes]
    verdict = _conclude(verdicts)
    said = [notice for vote in votes for notice in vote.notices]
    if len(set(verdicts)) > 1:
        said.append(notices.VOTES_DISAGREE)
        if verdict is Verdict.SKIPPED:
            said.append(notices.VOTES_UNDECIDED)
    scores = [vote.score for vote in votes if vote.score is not None]
    return Opinion(
        verdict=verdict,
        score=min(scores, default=None),
        findings=_findings(votes),
        notices=tuple(dict.fromkeys(said)),
        record=_record(votes),
        consultation=reduce(Consultation.and_, (vote.consultation for vote in votes)),
    )


def _conclude(verdicts: Sequence[Verdict]) -> Verdict:
    given = set(verdicts)
    if len(given) == 1:
        return verdicts[0]
    if given <= PASSING:
        return Verdict.WARNING
    if 2 * verdicts.count(Verdict.FAIL) > len(verdicts):
        return Verdict.FAIL
    return Verdict.SKIPPED


def _findings(votes: Sequence[Opinion]) -> tuple[FindingDraft, ...]:
    """Each finding once, as the first vote wrote it that has it."""
    by_key: dict[str, FindingDraft] = {}
    count: dict[str, int] = {}
    for vote in votes:
        for finding in vote.findings:
            by_key.setdefault(finding.key, finding)
        for key in {finding.key for finding in vote.findings}:
            count[key] = count.get(key, 0) + 1
    return tuple(_counted(finding, count[key], len(votes)) for key, finding in by_key.items())


def _counted(finding: FindingDraft, votes: int, asked: int) -> FindingDraft:
    basis = finding.confidence_basis or Text(ja="", en="")
    return replace(
        finding,
        data={**finding.data, "votes": votes, "votes_asked": asked},
        confidence=None if finding.confidence is None else round(finding.confidence * votes / asked, 3),
        confidence_basis=Text(
            ja=f"{basis.ja}。{asked}回の判定のうち{votes}回で指摘",
            en=f"{basis.en}; found by {votes} of {asked} answers",
        ),
    )


def _record(votes: Sequence[Opinion]) -> Mapping[str, Any]:
    """The first vote's record with all of them in it: a vote without one keeps what it came to."""
    first = next((vote.record for vote in votes if vote.record), None)
    if first is None:
        return {}
    related = sorted({document for vote in votes for document in vote.record.get("related", ())})
    shown = {"related": related} if related else {}
    return {**first, **shown, "votes": [{**vote.record, **_outcome(vote)} for vote in votes]}


def _outcome(vote: Opinion) -> dict[str, Any]:
    outcome: dict[str, Any] = {"verdict": vote.verdict.value}
    return outcome if vote.record else outcome | {"notices": [notice.as_dict() for notice in vote.notices]}
