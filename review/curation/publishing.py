"""Publishing a candidate by its name: each kind by its own service, behind the same gate."""

from __future__ import annotations

from hub.access.principals import Principal
from knowledge.embedding_sets.switching import switch_to
from review.curation.master_versions import approve_checklist_version
from review.curation.prompts import publish_prompt
from review.evaluation.candidates import GUARD_PROMPT, GUARD_SET, find_candidate, find_prompt, split_name
from review.masters.listing import get_checklist_version


def publish_candidate(*, principal: Principal, name: str) -> None:
    """Approve a check list's version, publish a prompt, or switch to an embedding set.

    Raises what the service for it raises: Conflict with the flipped cases, when the gate refuses.
    """
    candidate = find_candidate(principal, name)
    if candidate.guard == GUARD_SET and candidate.embedding_set is not None:
        switch_to(principal=principal, name=candidate.embedding_set.name)
        return
    code, number = split_name(name)
    if candidate.guard == GUARD_PROMPT:
        publish_prompt(principal=principal, prompt_id=find_prompt(code, number).pk)
    else:
        version = get_checklist_version(principal, code, number)
        approve_checklist_version(principal=principal, version=version)
