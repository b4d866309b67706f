"""What pinned check lists and prompts say: drafts are edited under the number that they have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from django.core.serializers.json import DjangoJSONEncoder

from review.judging.prompts import texts_of
from review.models import CheckListEntry


def digest_of_contents(checklists: Sequence[int], prompts: Mapping[str, int]) -> str:
    """Hash the item versions of check list versions, in their order, and the texts of prompts. Two queries."""
    entries = CheckListEntry.objects.filter(checklist_version__in=checklists).order_by("checklist_version", "position")
    items = entries.values_list(
        "checklist_version", "item_version", "item_version__criteria", "item_version__check_type",
        "item_version__name_ja", "item_version__description_ja", "item_version__guideline_reference",
    )  # fmt: skip
    texts = texts_of(prompts)
    facts = json.dumps([list(items), texts.judge, texts.screen, texts.summary], cls=DjangoJSONEncoder, sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()
