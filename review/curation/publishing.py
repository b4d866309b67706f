"""Publishing a candidate by its name: each kind by its own service, behind the same gate."""

from __future__ import annotations

from hub.access.principals import Principal
from knowledge.embedding_sets.switching import switch_to
from knowledge.models import EmbeddingSet
from review.curation.master_versions import approve_checklist_version
from review.curation.prompts import publish_prompt
from review.evaluation.candidates import find_candidate
from review.models import CheckListVersion, JudgePrompt


def publish_candidate(*, principal: Principal, name: str) -> None:
    """Approve a check list's version, publish a prompt, or switch to an embedding set.

    Raises what the service for it raises: Conflict with the flipped cases, when the gate refuses.
    """
    match find_candidate(principal, name).version:
        case CheckListVersion() as version:
            approve_checklist_version(principal=principal, version=version)
        case JudgePrompt() as prompt:
            publish_prompt(principal=principal, prompt_id=prompt.pk)
        case EmbeddingSet() as chosen:
            switch_to(principal=principal, name=chosen.name)
