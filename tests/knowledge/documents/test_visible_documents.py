"""Which documents a caller may act on: by collection, role, scope and classification, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hub.access.models import Clearance
from hub.access.principals import Classification, Role, Scope, local_operator
from hub.access.services import principal_for_user
from knowledge.models import Collection, Document, DocumentVersion
from tests.factories import new_user, upload_text
from tests.hub.admin.support import grant

pytestmark = pytest.mark.django_db


@pytest.fixture
def documents(tmp_path: Path) -> dict[str, Document]:
    """A document for each pair of a collection (ours, theirs) and a classification."""
    made = {}
    for slug in ("ours", "theirs"):
        Collection.objects.create(slug=slug, name=slug, classification=Classification.C1)
        for level in Classification:
            name = f"{slug} {level.name.lower()}"
            outcome = upload_text(local_operator(), tmp_path, f"# {name}\n", name=f"{name}.md", collection=slug)
            Document.objects.filter(pk=outcome.document.pk).update(classification=level)
            made[name] = outcome.document
    return made


def names_of(documents: dict[str, Document], keys: object) -> list[str]:
    found = set(keys)  # type: ignore[call-overload]
    return [name for name, document in documents.items() if document.pk in found]


@pytest.mark.parametrize(
    ("role", "scope", "expected"),
    [
        (Role.READER, Scope.READ, ["ours c1", "ours c2"]),
        (Role.READER, Scope.TRIAGE, []),
        (Role.REVIEWER, Scope.TRIAGE, ["ours c1", "ours c2"]),
    ],
)
def test_a_role_opens_its_collection_up_to_the_ceiling_for_what_it_allows(
    documents: dict[str, Document], role: Role, scope: Scope, expected: list[str]
) -> None:
    user = new_user()
    grant(user, role, Collection.objects.get(slug="ours"))
    Clearance.objects.create(user=user, ceiling=Classification.C2)
    principal = principal_for_user(user)
    seen = Document.objects.visible_to(principal, scope).values_list("pk", flat=True)
    assert names_of(documents, seen) == expected
    versions = DocumentVersion.objects.visible_to(principal, scope).values_list("document_id", flat=True)
    assert names_of(documents, versions) == expected
    hidden = Document.objects.hidden_from(principal, scope).values_list("pk", flat=True)
    assert names_of(documents, hidden) == [name for name in documents if name not in expected]


def test_a_caller_without_the_scope_sees_none_and_all_are_hidden(documents: dict[str, Document]) -> None:
    nobody = replace(local_operator(), scopes=frozenset({Scope.SEARCH}))
    assert not Document.objects.visible_to(nobody, Scope.TRIAGE).exists()
    assert not DocumentVersion.objects.visible_to(nobody, Scope.TRIAGE).exists()
    rest = Document.objects.exclude(pk__in=Document.objects.visible_to(nobody, Scope.TRIAGE).values("pk"))
    hidden = Document.objects.hidden_from(nobody, Scope.TRIAGE)
    assert set(rest) == set(hidden) >= set(documents.values())
