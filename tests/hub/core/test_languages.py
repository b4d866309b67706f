"""Texts in both languages, and which of them a reader gets."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy

from hub.core.embedded.launch import EmbeddedServerError
from hub.core.errors import InvalidInput
from hub.core.languages import in_both, in_language, shown
from hub.core.texts import Text
from knowledge.documents.folder_reports import Problem
from knowledge.embedders.base import EmbedderUnavailable
from knowledge.parsers.errors import parse_error
from knowledge.types.notices import Notice
from review.masters.table import COLUMNS

TEXT = Text(ja="期限切れ", en="expired")


@pytest.mark.parametrize(("code", "expected"), [("ja", "期限切れ"), ("en", "expired"), ("en-gb", "expired")])
def test_a_reader_gets_the_text_of_the_active_language(code: str, expected: str) -> None:
    with translation.override(code):
        assert shown(TEXT) == in_language(TEXT.ja, TEXT.en) == expected


def test_without_a_language_the_text_is_japanese() -> None:
    with translation.override(None):
        assert shown(TEXT) == TEXT.ja


def test_what_gettext_says_is_taken_in_both_languages_whatever_is_active() -> None:
    for code in ("ja", "en"):
        with translation.override(code):
            said = in_both(InvalidInput(gettext_lazy("Name (ja)")))
            assert said == Text(ja="名称（日）", en="Name (ja)")
            assert translation.get_language() == code


def test_all_that_has_both_languages_has_one_type() -> None:
    notice = Notice(code="x", ja=TEXT.ja, en=TEXT.en)
    problem = Problem(path="a.md", ja=TEXT.ja, en=TEXT.en)
    failed = (
        EmbedderUnavailable(TEXT.en, TEXT.ja),
        EmbeddedServerError(en=TEXT.en, ja=TEXT.ja),
        parse_error("encrypted"),
    )
    assert all(isinstance(one, Text) for one in (notice, problem, *COLUMNS, *(error.text for error in failed)))
    assert str(failed[0]) == str(failed[1]) == "expired"


@pytest.mark.parametrize("language", ["ja", "en"])
def test_days_and_times_are_written_alike_in_both_languages(language: str) -> None:
    moment = datetime(2026, 3, 9, 6, 3, tzinfo=UTC)
    with translation.override(language):
        assert date_format(moment, "DATETIME_FORMAT") == "2026-03-09 06:03"
        assert date_format(moment.date()) == "2026-03-09"
