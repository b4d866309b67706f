"""The REST door of check masters: what a draft or a file would take back is refused unless it is said."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from openpyxl import load_workbook

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from review.curation.master_files import export_checklist
from review.curation.master_versions import copy_checklist_version
from review.masters.listing import get_checklist, version_in_force

pytestmark = pytest.mark.django_db
DOOR = "/api/v1/checklists/test-plan"


@pytest.fixture
def client() -> Client:
    user = User.objects.create_superuser("curator")
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "en"})


def test_an_overtaken_draft_is_approved_with_the_number_that_it_replaces(client: Client) -> None:
    current = version_in_force(get_checklist("test-plan"))
    assert current is not None
    earlier, later = (copy_checklist_version(principal=local_operator(), version=current) for _number in range(2))

    def approve(number: int, **given: int) -> tuple[int, dict[str, object]]:
        answer = client.post(f"{DOOR}/versions/{number}/approve", given, content_type="application/json")
        return answer.status_code, answer.json()

    assert approve(earlier.number)[0] == 200
    status, problem = approve(later.number)
    assert (status, problem["code"]) == (409, "base_overtaken")
    assert f"replaces version {earlier.number}" in str(problem["detail"])
    assert approve(later.number, replaces=earlier.number)[0] == 200


def test_a_file_of_an_older_version_is_imported_with_the_number_that_it_replaces(client: Client) -> None:
    current = version_in_force(get_checklist("test-plan"))
    assert current is not None
    book = load_workbook(io.BytesIO(export_checklist(local_operator(), "test-plan")))
    book.worksheets[0].delete_rows(2)
    written = io.BytesIO()
    book.save(written)
    newer = copy_checklist_version(principal=local_operator(), version=current)

    def send(query: str = "") -> tuple[int, dict[str, object]]:
        file = SimpleUploadedFile("m.xlsx", written.getvalue())
        answer = client.post(f"{DOOR}/import{query}", {"file": file})
        return answer.status_code, answer.json()

    status, problem = send()
    assert (status, problem["code"]) == (409, "base_overtaken")
    assert f"v{newer.number}" in str(problem["detail"])
    assert send(f"?replaces={newer.number}")[0] == 201
