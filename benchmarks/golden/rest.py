"""The hub's REST API, called in this process as a person with a token."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token

API = "/api/v1"
Answer = dict[str, Any]


class Caller:
    """One person's calls; answers are ``{"status": …, "body": …}``, the body JSON's types, or bytes of a file."""

    def __init__(self, username: str, **rights: bool) -> None:
        self.user, _made = User.objects.get_or_create(username=username, defaults=rights)
        _row, token = create_token(principal=local_operator(), user=self.user, name="golden", scopes=ALL_SCOPES)
        headers = {"authorization": f"Bearer {token}", "host": "localhost"}
        self._client = Client(headers=headers, raise_request_exception=True)

    def get(self, path: str, language: str = "ja", **query: Any) -> Answer:
        """Read a page or a file."""
        return _answer(self._client.get(API + path, query, headers={"accept-language": language}))

    def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send JSON."""
        return _answer(self._client.post(API + path, json.dumps(body), content_type="application/json"))

    def send_file(self, path: str, **form: Any) -> Answer:
        """Send a form with a file."""
        return _answer(self._client.post(API + path, form))

    def pages(self, path: str, **query: Any) -> Iterator[Answer]:
        """Read a list to its end, page by page."""
        following: str | None = ""
        while following is not None:
            page = self.get(path, **query, **({"cursor": following} if following else {}))
            yield page
            following = page["body"].get("next_cursor")

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Read a list to its end, row by row."""
        for page in self.pages(path, **query):
            yield from page["body"]["items"]


def _answer(response: Any) -> Answer:
    data = b"".join(response) if response.streaming else response.content
    if response.status_code >= 500:
        raise RuntimeError(f"{response.request['PATH_INFO']} answered {response.status_code}: {data[:2000]!r}")
    is_json = "json" in response.get("Content-Type", "")
    return {"status": response.status_code, "body": json.loads(data) if is_json and data else data}
