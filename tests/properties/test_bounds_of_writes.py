"""What is too large is refused by every write before the table refuses it, and an import names the row."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import translation
from openpyxl import Workbook

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from hub.core.bounds import CHAPTER_TEXT, LONG_TEXT, MOST_NAMED
from hub.core.errors import InvalidInput
from hub.rest.errors import InvalidFields
from knowledge.graph.curation import NodeDraft, write_node
from knowledge.guidelines.imports import GuidelineImport, import_edition
from knowledge.models import Guideline, GuidelineArticle, GuidelineEdition, Ontology
from knowledge.ontology.ontologies import import_ontology
from review.curation import master_files
from review.evaluation.cases import import_cases, rows_of
from review.evaluation.datasets import create_dataset
from review.models import CheckItemVersion

pytestmark = pytest.mark.django_db
LONGER = "x" * (LONG_TEXT + 1)


@pytest.fixture(autouse=True)
def _in_english():
    with translation.override("en"):
        yield


def test_no_way_of_writing_a_row_goes_past_the_bound():
    guideline = Guideline.objects.first()
    assert guideline is not None
    for write in (
        lambda: Guideline.objects.filter(pk=guideline.pk).update(source=LONGER),
        lambda: Guideline.objects.bulk_create([Guideline(code="a", prefix="A-", name_ja="a", source=LONGER)]),
        lambda: Guideline.objects.create(code="b", prefix="B-", name_ja="b", source=LONGER),
        lambda: Guideline(pk=guideline.pk, source=LONGER).save(update_fields=["source"]),
        lambda: Guideline.objects.bulk_update([Guideline(pk=guideline.pk, source=LONGER)], ["source"]),
    ):
        with pytest.raises(InvalidInput, match=str(LONG_TEXT)) as refused:
            write()
        assert refused.value.data["field"] == "source"


def test_the_table_refuses_what_comes_from_elsewhere():
    assert Guideline.objects.exists()
    with (
        connection.cursor() as cursor,
        pytest.raises(IntegrityError, match="knowledge_guideline_source_length"),
        transaction.atomic(),
    ):
        cursor.execute("UPDATE knowledge_guideline SET source = repeat('x', %s)", [LONG_TEXT + 1])


def sheet(*rows: tuple[Any, ...]) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def guideline(content: bytes, filename: str = "a.md", **more: str) -> GuidelineImport:
    names: Any = {"code": "house", "prefix": "HO-", "name_ja": "house", **more}
    return GuidelineImport(filename=filename, content=content, **names)


def test_an_article_that_is_too_long_is_named_by_its_line():
    text = "# house\n\n## 1. first\n\na\n\n## 2. second\n\n" + "x" * (CHAPTER_TEXT + 1) + "\n"
    with pytest.raises(InvalidInput, match=rf"7: text is longer than {CHAPTER_TEXT}"):
        import_edition(principal=local_operator(), asked=guideline(text.encode()))
    assert not GuidelineEdition.objects.filter(guideline__code="house").exists()


def test_an_article_with_too_many_headings_is_named_by_its_line():
    headings = "、".join(f"h{number}" for number in range(MOST_NAMED + 1))
    text = f"# house\n\n## 1. first\n\na\n\n- 見出し語: {headings}\n"
    with pytest.raises(InvalidInput, match=rf"3: headings has more than {MOST_NAMED}"):
        import_edition(principal=local_operator(), asked=guideline(text.encode()))


@pytest.mark.parametrize("field", ["name_ja", "name_en", "publisher", "licence", "source", "label", "code"])
def test_what_is_said_of_a_guideline_s_file_has_bounds(field):
    content = b"# house\n\n## 1. first\n\na\n"
    with pytest.raises(InvalidInput, match=field):
        import_edition(principal=local_operator(), asked=guideline(content, **{field: LONGER}))
    assert not GuidelineArticle.objects.filter(edition__guideline__code="house").exists()


def test_a_class_with_too_much_is_named_by_its_code():
    many = ", ".join(f'"s{number}"' for number in range(MOST_NAMED + 1))
    for said in (f"skos:altLabel {many}", f'skos:definition "{LONGER}"@ja'):
        turtle = (
            "@prefix hub: <urn:hub:ontology:house#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
            f"@prefix skos: <http://www.w3.org/2004/02/skos/core#> . hub:Requirement a owl:Class ; {said} ."
        )
        with pytest.raises(InvalidInput, match=r"Requirement: .*(synonyms|definition_ja)"):
            import_ontology(principal=local_operator(), domain="house", data=turtle.encode(), rdf_format="turtle")
    assert not Ontology.objects.filter(domain="house").exists()


def test_a_check_item_that_is_too_long_is_named_by_its_row():
    before = CheckItemVersion.objects.count()
    table = master_files.export_checklist(local_operator(), "basic-design", as_csv=True).decode("utf-8-sig")
    first = CheckItemVersion.objects.filter(item__code="BD-A01").latest("number")
    assert first.description_ja in table
    longer = table.replace(first.description_ja, LONGER, 1).encode()
    with pytest.raises(InvalidFields) as refused:
        master_files.import_checklist(principal=local_operator(), code="basic-design", filename="m.csv", content=longer)
    assert str(LONG_TEXT) in refused.value.errors[0]["message"]
    assert CheckItemVersion.objects.count() == before


def test_a_case_that_is_too_large_is_named_by_its_row():
    create_dataset(principal=local_operator(), code="house")
    rows = [{"query": "a", "relevant": ["a.md"]}, {"query": "b", "relevant": ["b.md"] * 6_000}]
    with pytest.raises(InvalidInput, match=r'2: "expected" has more than'):
        import_cases(principal=local_operator(), dataset="house", rows=rows_of(rows))


def test_what_a_curator_says_of_a_node_has_a_bound():
    draft = NodeDraft(type="Requirement", name="x", properties={f"key{number}": 0 for number in range(501)})
    with pytest.raises(InvalidInput, match="properties"):
        write_node(principal=local_operator(), draft=draft)


@pytest.mark.parametrize(
    ("method", "address", "body", "field"),
    [
        ("patch", "/api/v1/findings/fnd_1", {"comment": LONGER}, "comment"),
        ("patch", "/api/v1/findings/fnd_1", {"triage": "open", "revision": 2**31}, "revision"),
        ("post", "/api/v1/reviews", {"document_id": "doc_1", "check_items": ["x"] * 2_001}, "check_items"),
        ("post", "/api/v1/evaluation/datasets", {"code": "x" * 201}, "code"),
        (
            "put",
            "/api/v1/guidelines/mappings",
            {"article": "x" * 201, "check_item": "x", "relation": "direct"},
            "article",
        ),
    ],
)
def test_a_value_beyond_its_bound_is_named_by_the_door(method, address, body, field):
    user = User.objects.create_superuser("bounded", password="x")
    token = create_token(principal=local_operator(), user=user, name="t", scopes=frozenset(ALL_SCOPES))[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})
    answer = getattr(client, method)(address, body, content_type="application/json")
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == [field]
