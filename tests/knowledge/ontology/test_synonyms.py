"""Another name for a concept: added to a draft of what is published, by those with the right, and known once."""

from __future__ import annotations

import pytest

from hub.access.permissions import Role
from hub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from knowledge.models import Collection
from knowledge.ontology.editing import add_synonym
from knowledge.ontology.ontologies import get_ontology, publish_ontology
from tests.factories import hub_curator, principal_with

pytestmark = pytest.mark.django_db
DOMAIN = "system_design"


def test_a_name_goes_into_a_new_draft_and_the_next_one_into_the_same() -> None:
    curator = hub_curator()
    published = get_ontology(curator, DOMAIN)
    draft = add_synonym(principal=curator, domain=DOMAIN, code="Security", synonym=" 守りの固さ ")
    assert (draft.is_draft, draft.based_on_id) == (True, published.pk)
    assert add_synonym(principal=curator, domain=DOMAIN, code="Security", synonym="安全の度合い").pk == draft.pk
    names = draft.classes.get(code="Security").synonyms
    assert names[-2:] == ["守りの固さ", "安全の度合い"]
    assert published.classes.get(code="Security").synonyms == names[:-2]


def test_a_draft_of_a_version_that_is_no_longer_in_force_is_left_alone() -> None:
    first, second = hub_curator(), hub_curator()
    old = add_synonym(principal=first, domain=DOMAIN, code="Security", synonym="守りの固さ")
    newer = add_synonym(principal=first, domain=DOMAIN, code="Security", synonym="安全の度合い")
    assert newer.pk == old.pk
    publish_ontology(principal=second, domain=DOMAIN, number=old.number)
    assert add_synonym(principal=first, domain=DOMAIN, code="Security", synonym="守備").based_on_id == old.pk


@pytest.mark.parametrize(
    ("code", "synonym", "refusal"),
    [
        ("nowhere", "名", NotFound),
        ("Security", "ｓｅｃｕｒｉｔｙ", Conflict),
        ("Security", "長" * 201, InvalidInput),
        ("Security", " ", InvalidInput),
    ],
)
def test_what_can_not_be_a_name_is_refused(code: str, synonym: str, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        add_synonym(principal=hub_curator(), domain=DOMAIN, code=code, synonym=synonym)


def test_a_curator_of_a_collection_has_no_say_over_ontologies() -> None:
    curator = principal_with(Role.CURATOR, Collection.objects.get(slug="default"))
    with pytest.raises(Forbidden):
        add_synonym(principal=curator, domain=DOMAIN, code="Security", synonym="守りの固さ")
