"""How many documents and passages a caller may search: those of readable collections, below their ceiling, live."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hub.access.principals import Classification, Role, Scope, local_operator
from hub.core.errors import NotFound
from knowledge.documents.reading import count_documents
from knowledge.models import Chunk
from tests.factories import new_collection, principal_with, upload_text, work_through

pytestmark = pytest.mark.django_db


def test_counts_are_of_what_the_caller_may_search_and_take_two_statements(tmp_path, django_assert_num_queries):
    me = local_operator()
    assert count_documents(me) == (0, 0)
    ours, theirs = new_collection(), new_collection()
    for collection, name in ((ours, "a.md"), (ours, "b.md"), (theirs, "c.md")):
        work_through(
            upload_text(me, tmp_path, "# 目的\n\n本書は監視を定める。", name=name, collection=collection.slug).document
        )
    secret = upload_text(me, tmp_path, "# 目的\n\n機密の監視。", name="d.md", collection=ours.slug).document
    secret.classification = Classification.C3
    secret.save()
    work_through(secret)
    reader = principal_with(Role.READER, ours)
    with django_assert_num_queries(2):
        counted = count_documents(replace(reader, ceiling=Classification.C2))
    visible = Chunk.objects.filter(version__document__collection=ours).exclude(version__document=secret)
    assert counted == (2, visible.count())
    assert counted[1] > 0
    assert count_documents(me) == (4, Chunk.objects.count())
    assert count_documents(me, collection=theirs.slug)[0] == 1


def test_who_may_see_nothing_counts_nothing(tmp_path):
    ours = new_collection()
    work_through(
        upload_text(local_operator(), tmp_path, "# 目的\n\n監視。", name="a.md", collection=ours.slug).document
    )
    stranger = principal_with(None, ours)
    assert count_documents(stranger) == (0, 0)
    assert count_documents(replace(stranger, user_id=None, scopes=frozenset({Scope.SEARCH}))) == (0, 0)
    with pytest.raises(NotFound):
        count_documents(stranger, collection=ours.slug)
