from __future__ import annotations

import warnings
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient

from tests.hub.rest.conftest import Caller

CONTENT = "表題,値\n1,2\n".encode()


def test_long_work_is_accepted_with_a_place_to_poll(caller: Caller):
    response = caller.post_json("/jobs", {})

    assert response.status_code == 202
    assert response["Location"] == "/api/v1/jobs/job_1"
    assert response.json() == {"status": "queued"}


def test_japanese_text_is_sent_as_it_is(caller: Caller):
    assert "佐藤" in caller.get("/whoami").content.decode()


def test_a_file_is_an_attachment_under_its_own_name(caller: Caller):
    response = caller.get("/export?filename=指摘管理表.csv&content_type=text/csv")

    assert response.content == CONTENT
    assert response["Content-Type"] == "text/csv"
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''%E6%8C%87")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]


@pytest.mark.parametrize("content_type", ["text/html", "image/svg+xml", "text/xml; charset=utf-8", ""])
def test_what_a_browser_could_run_is_sent_as_plain_bytes(caller: Caller, content_type: str):
    response = caller.get(f"/export?filename=a&content_type={content_type.replace('+', '%2B')}")

    assert response["Content-Type"] == "application/octet-stream"


def test_a_line_break_in_a_name_adds_no_header(caller: Caller):
    response = caller.get("/export?filename=a%0d%0aX-Evil:%201&content_type=text/csv")

    assert "X-Evil" not in response
    assert "\n" not in response["Content-Disposition"]


def test_large_files_are_streamed_under_wsgi_and_asgi_alike(caller: Caller):
    path = "/api/v1/export?filename=a.csv&content_type=text/csv&stream=true"

    async def download() -> bytes:
        response: Any = await AsyncClient().get(path, headers=caller.headers)
        return b"".join([chunk async for chunk in response.streaming_content])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert caller.client.get(path, headers=caller.headers).getvalue() == CONTENT
        assert async_to_sync(download)() == CONTENT
