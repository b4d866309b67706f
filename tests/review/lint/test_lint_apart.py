"""Long texts are judged in a process of their own: the same findings, within limits, and nobody else waits."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.test import Client
from django.utils import translation

from hub.access.principals import Classification, Principal, Role, Scope, local_operator
from hub.access.services import authenticate, create_token
from hub.core.errors import LimitExceeded, TooManyAtOnce
from knowledge.models import Collection
from knowledge.parsers.process.isolation import HostPool, hosts
from review.lint import texts
from review.lint.linting import judge_text
from review.lint.texts import choose_rules
from review.rules.style import ALIASES
from tests.hub.admin.support import grant, make_user
from tests.review.lint.test_lint import READER, TEXT

LONG = TEXT * 120
ADVERSARIAL = ["a." * 80_000, "3.3." * 40_000, "1-" * 80_000]


@pytest.fixture
def own_hosts() -> Iterator[HostPool]:
    yield hosts.get()
    hosts.get().close()


def token_of(name: str) -> str:
    """A reader's token."""
    user = make_user(name)
    grant(user, Role.READER, Collection.objects.get(slug="default"))
    return create_token(principal=local_operator(), user=user, name="t", scopes=frozenset({Scope.READ}))[1]


@pytest.mark.parametrize("text_format", ["markdown", "text"])
@pytest.mark.parametrize("names", [(), ("style.*",), tuple(sorted(ALIASES))[:60]])
def test_a_long_text_has_the_findings_that_it_has_in_this_process(
    own_hosts: HostPool, text_format: str, names: tuple[str, ...]
) -> None:
    assert len(LONG) > texts.SHORT_CHARACTERS
    apart = texts.lint_text(principal=READER, text=LONG, rules=names, text_format=text_format)
    assert apart.findings
    assert apart == judge_text(LONG, choose_rules(names), is_markdown=text_format == "markdown")


@pytest.mark.django_db
@pytest.mark.parametrize("text", ADVERSARIAL)
def test_a_reader_s_text_costs_this_process_next_to_nothing(own_hosts: HostPool, text: str) -> None:
    token = token_of("heidi")
    begun = time.process_time()
    answer = Client().post(
        "/api/v1/lint", {"text": text}, content_type="application/json", headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 200, answer.content
    # Of processor time of this process; each of these texts took it more than thirty seconds.
    assert time.process_time() - begun < 5


@pytest.mark.django_db
def test_others_are_answered_while_a_long_text_is_read(own_hosts: HostPool) -> None:
    token = token_of("bob")
    texts.lint_text(principal=READER, text=LONG)
    (host,) = own_hosts._idle
    reading = threading.Thread(target=texts.lint_text, kwargs={"principal": READER, "text": ADVERSARIAL[0]})
    os.kill(host._process.pid, signal.SIGSTOP)  # so that the text is being read for as long as it takes
    try:
        reading.start()
        answer = Client().get("/api/v1/collections", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
        assert reading.is_alive()
    finally:
        os.kill(host._process.pid, signal.SIGCONT)
        reading.join()


def test_a_text_that_costs_too_much_is_an_error_that_says_what_to_do(
    own_hosts: HostPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "LIMITS", replace(texts.LIMITS, wall_s=0.0))
    with pytest.raises(LimitExceeded) as refused:
        texts.lint_text(principal=READER, text=LONG)
    assert refused.value.error_code == "text_too_costly"


@contextmanager
def held_text(own_hosts: HostPool, principal: Principal) -> Iterator[None]:
    """A long text of a caller that is being read for as long as the block runs."""
    texts.lint_text(principal=principal, text=LONG)
    (host,) = own_hosts._idle
    reading = threading.Thread(target=texts.lint_text, kwargs={"principal": principal, "text": LONG})
    os.kill(host._process.pid, signal.SIGSTOP)
    try:
        reading.start()
        while own_hosts._idle:  # until the one host is lent to it
            assert reading.is_alive()
        yield
        assert reading.is_alive()
    finally:
        os.kill(host._process.pid, signal.SIGCONT)
        reading.join()


def reader(name: str, user_id: int) -> Principal:
    return Principal(name=name, user_id=user_id, scopes=frozenset({Scope.READ}), ceiling=Classification.C1)


def test_a_second_long_text_of_a_caller_is_refused_at_once_and_another_s_is_read(own_hosts: HostPool) -> None:
    heidi, again, alice = (reader(name, number) for name, number in (("heidi", 1), ("heidi again", 1), ("alice", 2)))
    with held_text(own_hosts, heidi):
        with translation.override("en"), pytest.raises(TooManyAtOnce, match="1 of your calls of this kind") as refused:
            texts.lint_text(principal=again, text=LONG)
        assert (refused.value.error_code, refused.value.status) == ("too_many_at_once", 429)
        assert texts.lint_text(principal=alice, text=LONG).findings
        assert texts.lint_text(principal=heidi, text=TEXT).findings  # a short one waits for nobody


@pytest.mark.django_db
def test_a_program_is_told_when_to_send_its_next_long_text(own_hosts: HostPool) -> None:
    token = token_of("heidi")
    owner = authenticate(token)
    with held_text(own_hosts, owner):
        answer = Client().post(
            "/api/v1/lint",
            {"text": LONG},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
    assert (answer.status_code, answer.json()["code"], answer.json()["retryable"]) == (429, "too_many_at_once", True)
    assert int(answer.headers["Retry-After"]) > 0
