"""The order of a check list's entries: numbered anew in a draft, audited where it changed, for curators alone."""

from __future__ import annotations

import pytest

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, Forbidden, InvalidInput
from knowledge.models import Collection
from review.curation.master_versions import copy_checklist_version, order_entries
from review.masters.listing import get_checklist, version_in_force
from review.models import CheckListEntry, CheckListVersion
from tests.factories import principal_with

pytestmark = pytest.mark.django_db


def in_force(code: str) -> CheckListVersion:
    found = version_in_force(get_checklist(code))
    assert found is not None
    return found


@pytest.fixture
def draft(db: None) -> CheckListVersion:
    return copy_checklist_version(principal=local_operator(), version=in_force("basic-design"))


def codes(version: CheckListVersion) -> list[str]:
    return list(version.entries.order_by("position").values_list("item_version__item__code", flat=True))


def orders(version: CheckListVersion) -> list[list[str]]:
    lines = AuditEvent.objects.filter(resource=f"checklistversion:{version}", details__has_key="order")
    return [line.details["order"] for line in lines]


def test_entries_are_numbered_anew_and_the_new_order_is_on_the_audit_trail(draft: CheckListVersion) -> None:
    before = codes(draft)
    rows = list(draft.entries.order_by("position"))
    rows[-1].position = -1
    order_entries(principal=local_operator(), version=draft, entries=rows)
    assert codes(draft) == [before[-1], *before[:-1]]
    assert sorted(draft.entries.values_list("position", flat=True)) == list(range(len(before)))
    assert orders(draft) == [codes(draft)]


def test_the_same_order_leaves_no_line(draft: CheckListVersion) -> None:
    order_entries(principal=local_operator(), version=draft, entries=list(draft.entries.all()))
    assert orders(draft) == []


def test_only_drafts_are_ordered_only_by_curators_and_only_by_their_own_entries(draft: CheckListVersion) -> None:
    published = in_force("basic-design")
    with pytest.raises(Conflict):
        order_entries(principal=local_operator(), version=published, entries=list(published.entries.all()))
    reader = principal_with(Role.ADMINISTRATOR, Collection.objects.get(slug="default"))
    with pytest.raises(Forbidden):
        order_entries(principal=reader, version=draft, entries=list(draft.entries.all()))
    foreign = CheckListEntry.objects.filter(checklist_version=in_force("test-plan")).first()
    assert foreign is not None
    with pytest.raises(InvalidInput):
        order_entries(principal=local_operator(), version=draft, entries=[foreign])
