"""How the start finds out that the hub answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from hub.management.commands.up import Command, _Readiness


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that answers to hub.example alone, and the hosts that it was asked as."""
    hosts: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hosts.append(self.headers["Host"])
            self.send_response(200 if self.headers["Host"] == "hub.example" else 400)
            self.end_headers()

        def log_message(self, *_given: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", hosts
        server.shutdown()


def test_it_asks_under_a_name_that_the_hub_answers_to(asked: tuple[str, list[str]], settings: Any) -> None:
    url, hosts = asked
    settings.ALLOWED_HOSTS = ["hub.example"]
    assert _Readiness(command=Command(), url=url, admin=None, ready_file=None)._answers()
    settings.ALLOWED_HOSTS = [".other.example"]
    assert not _Readiness(command=Command(), url=url, admin=None, ready_file=None)._answers()
    assert hosts == ["hub.example", "other.example"]
