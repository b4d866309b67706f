"""Bad input gets a clear answer each, and the hub stays healthy."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys

import pytest
import requests

from tests.flows.hub_process import ROOT, HubProcess

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(autouse=True)
def _hub_stays_healthy(hub: HubProcess):
    yield
    assert requests.get(f"{hub.url}/readyz", timeout=10).status_code == 200


def problem(response: requests.Response, status: int, code: str) -> dict:
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"].startswith("application/problem+json")
    assert response.json()["code"] == code
    return response.json()


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("空.md", b"", "empty_file"),
        ("途中.docx", b"PK\x03\x04" + b"\0" * 200, "corrupted"),
        ("なぞ.bin", bytes(range(256)) * 8, "unsupported_format"),
        ("昔.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "corrupted"),
    ],
)
def test_a_file_that_can_not_be_read_ends_failed_with_its_reason(hub, tmp_path, name, content, code):
    path = tmp_path / name
    path.write_bytes(content)
    (document,) = hub.wait_until_finished(hub.upload(path)["document_id"])
    assert (document["status"], document["status_code"]) == ("failed", code)
    assert document["status_reason"]


@pytest.mark.parametrize(
    "pattern", ["bug53475-password-is-pass.docx", "testPDF_protected.pdf", "truncated62886.docx", "poc-xmlbomb.xlsx"]
)
def test_encrypted_and_hostile_files_end_with_a_reason(hub, test_data, pattern):
    path = test_data / "awkward" / pattern
    (document,) = hub.wait_until_finished(hub.upload(path)["document_id"])
    assert document["status"] in {"failed", "needs_ocr", "ready"}
    if document["status"] == "failed":
        assert document["status_code"] not in {"", "internal_error", "gave_up"}


def test_a_claim_of_ten_gigabytes_is_refused_before_the_body_is_read(hub):
    with socket.create_connection(("127.0.0.1", hub.port), timeout=20) as connection:
        head = (
            "POST /api/v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10737418240\r\n"
            f"Authorization: Bearer {hub.token}\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
        )
        connection.sendall(head.encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        answer = response.read().decode()
    assert response.status == 413
    assert "HUB_MAX_UPLOAD_BYTES" in answer or "upload_too_large" in answer


def test_no_token_and_a_wrong_token_are_401(hub):
    problem(hub.call("GET", "/documents", token=""), 401, "unauthenticated")
    problem(hub.call("GET", "/documents", token="hub_wrong"), 401, "unauthenticated")


def test_unknown_ids_are_404_in_the_callers_language(hub):
    japanese = problem(hub.call("GET", "/documents/doc_nope"), 404, "document_not_found")
    english = problem(
        hub.call("GET", "/documents/doc_nope", headers={"Accept-Language": "en"}), 404, "document_not_found"
    )
    assert "doc_nope" in japanese["detail"]
    assert japanese["detail"] != english["detail"]
    problem(hub.call("GET", "/reviews/rev_nope"), 404, "review_not_found")
    problem(hub.call("GET", "/chunks/chk_nope"), 404, "chunk_not_found")


def test_malformed_json_says_where(hub):
    response = hub.call("POST", "/search", data=b'{"query": ', headers={"Content-Type": "application/json"})
    problem(response, 400, "malformed_json")


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": "x", "limit": 0}, {"query": "x", "mode": "psychic"}])
def test_a_search_that_can_not_be_is_422(hub, body):
    assert hub.call("POST", "/search", json=body).status_code == 422


@pytest.mark.parametrize("query", ["あ" * 10_000, "🎌🗾", "の は が を", "！？＃", "\u0000"])
def test_odd_queries_get_an_answer_or_a_clear_422(hub, query):
    response = hub.call("POST", "/search", json={"query": query})
    assert response.status_code in {200, 422}


def test_a_second_hub_on_the_same_port_says_so_and_ends(hub, tmp_path):
    environment = hub.environment() | {"HUB_DATA_DIR": str(tmp_path / "other")}
    done = subprocess.run(
        [sys.executable, "manage.py", "up", "--port", str(hub.port)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert str(hub.port) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_is_named_and_nothing_starts(hub, tmp_path):
    environment = hub.environment() | {"HUB_DATA_DIR": str(tmp_path / "never"), "EMBEDDING_BACKEND": "magic"}
    done = subprocess.run(
        [sys.executable, "manage.py", "up"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "EMBEDDING_BACKEND" in done.stderr
    assert not (tmp_path / "never").exists()
