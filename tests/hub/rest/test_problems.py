from __future__ import annotations

import json
import logging

import pytest
from django.test import Client

from hub.access.principals import Scope
from tests.hub.rest.conftest import Caller, make_caller


def assert_problem(response, status: int, code: str) -> dict:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["code"] == code
    assert problem["type"] == f"urn:hub:problem:{code}"
    assert problem["request_id"] == response["X-Request-ID"]
    assert problem["title"]
    assert problem["detail"]
    return problem


def test_an_expected_error_names_code_path_and_request(caller: Caller):
    problem = assert_problem(caller.get("/conflict", **{"X-Request-ID": "abc-1"}), 409, "conflict")

    assert problem["instance"] == "/api/v1/conflict"
    assert problem["request_id"] == "abc-1"
    assert problem["retryable"] is False


def test_the_detail_comes_in_the_callers_language_and_in_japanese_without_one(caller: Caller):
    assert caller.get("/conflict", **{"Accept-Language": "en"}).json()["detail"] == "Enter a valid date."

    japanese = caller.get("/conflict")

    assert japanese.json()["detail"] == "日付を正しく入力してください。"
    assert japanese["Content-Language"] == "ja"


def test_every_invalid_value_of_a_body_is_named_as_the_caller_wrote_it(caller: Caller):
    problem = assert_problem(caller.post_json("/things", {"count": 0}), 422, "invalid_input")

    assert [(error["field"], error["location"]) for error in problem["errors"]] == [("name", "body"), ("count", "body")]
    assert "greater than or equal to 1" in problem["errors"][1]["message"]
    assert "name, count" in problem["detail"]


def test_an_invalid_query_parameter_is_named(caller: Caller):
    problem = assert_problem(caller.get("/things?limit=201"), 422, "invalid_input")

    assert [(error["field"], error["location"]) for error in problem["errors"]] == [("limit", "query")]


def test_an_error_that_blames_one_field_lists_it(caller: Caller):
    problem = assert_problem(caller.get("/bad-field"), 422, "invalid_input")

    assert problem["errors"] == [{"field": "collection", "message": "The collection 規程 is archived."}]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"name": "x",\n  "count": }', "line 2, column 12"),
        (b'{"name": "\xff"}', "byte 10"),
        (b'{"name": "x", "count": NaN}', "NaN"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_malformed_json_says_where_it_breaks(caller: Caller, body: bytes, expected: str):
    problem = assert_problem(caller.post_json("/things", body, Accept_Language="en"), 400, "malformed_json")

    assert expected in problem["detail"]


@pytest.mark.parametrize("name", ["a\x00b", "half \ud83d"])
def test_text_that_cannot_be_stored_is_refused_with_its_field(caller: Caller, name: str):
    problem = assert_problem(caller.post_json("/things", json.dumps({"name": name})), 422, "invalid_input")

    assert problem["errors"][0]["field"] == "name"


def test_a_nul_character_in_a_query_or_path_is_refused(caller: Caller):
    assert_problem(caller.get("/things?action=%00"), 422, "invalid_input")
    assert_problem(caller.get("/things/%00"), 404, "not_found")


def test_a_body_of_another_type_is_refused(caller: Caller):
    form = caller.client.post("/api/v1/things", {"name": "x"}, headers=caller.headers)
    json_for_form = caller.post_json("/files", {"title": "x"})

    assert "multipart/form-data" in assert_problem(form, 415, "unsupported_media_type")["detail"]
    assert "multipart/form-data" in assert_problem(json_for_form, 415, "unsupported_media_type")["detail"]


def test_a_multipart_request_without_its_file_is_named_as_such(caller: Caller):
    response = caller.client.post("/api/v1/files", {"title": "表題"}, headers=caller.headers)

    assert assert_problem(response, 422, "invalid_input")["errors"][0]["location"] == "file"


def test_a_broken_multipart_body_is_refused(caller: Caller):
    response = caller.client.generic(
        "POST", "/api/v1/files", b"--x", content_type="multipart/form-data; boundary=", headers=caller.headers
    )

    assert_problem(response, 400, "malformed_multipart")


def test_a_json_body_above_the_limit_is_refused_with_the_settings_name(caller: Caller, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    problem = assert_problem(caller.post_json("/things", {"name": "長" * 200}), 413, "limit_exceeded")

    assert "DATA_UPLOAD_MAX_MEMORY_SIZE" in problem["detail"]


def test_an_unexpected_exception_is_logged_and_tells_the_caller_nothing(caller: Caller, caplog):
    with caplog.at_level(logging.ERROR, logger="hub.rest.errors"):
        response = caller.get("/broken")

    problem = assert_problem(response, 500, "internal_error")
    assert "himitsu" not in response.content.decode()
    assert problem["request_id"] in problem["detail"]
    assert "himitsu" in caplog.text
    assert "Traceback" in caplog.text


def test_an_exception_outside_of_ninja_is_a_problem_too(db):
    assert_problem(Client().get("/api/broken-page"), 500, "internal_error")


def test_a_missing_row_and_an_unknown_path_are_problems_that_name_no_model(caller: Caller):
    assert "AuditEvent" not in assert_problem(caller.get("/lost"), 404, "not_found")["detail"]
    assert_problem(caller.get("/no/such/call"), 404, "not_found")
    assert_problem(Client().get("/api/"), 404, "not_found")


def test_an_unknown_page_outside_of_the_api_stays_a_page(db):
    response = Client().get("/no-such-page")

    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")


def test_a_method_that_is_not_possible_names_the_ones_that_are(caller: Caller):
    response = caller.client.put("/api/v1/whoami", headers=caller.headers)

    assert_problem(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET"


def test_a_missing_scope_is_forbidden(db):
    reader = make_caller("鈴木", scopes=frozenset({Scope.READ}))
    response = reader.client.delete("/api/v1/things/1", headers=reader.headers)

    assert_problem(response, 403, "missing_scope")


def test_a_part_that_is_down_answers_503_with_a_time_to_come_back(caller: Caller):
    response = caller.post_json("/flaky", {})

    assert assert_problem(response, 503, "unavailable")["retryable"] is True
    assert int(response["Retry-After"]) > 0


def test_an_unknown_host_is_refused_with_a_problem(db):
    assert_problem(Client().get("/api/v1/whoami", headers={"Host": "evil.example"}), 400, "bad_request")
