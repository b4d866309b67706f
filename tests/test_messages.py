"""Every text that people see is there in Japanese, and the hub compiles the catalogue itself."""

from __future__ import annotations

import gettext
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polib
import pytest
from django.utils import translation

from hub.data_dir import compiled_catalogue
from tools.messages import (
    CATALOGUE,
    Message,
    all_messages,
    message_of,
    python_messages,
    template_messages,
    translation_of,
    updated_catalogue,
)

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w*(?:![rsa])?\}")
RUN_THIS = "run: python -m tools.messages, and translate what it lists"


@pytest.fixture(scope="module")
def catalogue() -> polib.POFile:
    return polib.pofile(str(CATALOGUE))


@pytest.fixture(scope="module")
def used() -> set[Message]:
    return set(all_messages())


def test_every_text_has_a_japanese_translation(catalogue: polib.POFile, used: set[Message]) -> None:
    translated = {message_of(entry) for entry in catalogue if translation_of(entry)}
    missing = sorted(message.msgid for message in used if message not in translated)
    assert not missing, RUN_THIS


def test_titles_of_django_have_no_spaces_around_names_in_japanese() -> None:
    with translation.override("ja"):
        assert translation.gettext("Select %s to change") % "文書" == "変更する文書を選択"
        assert translation.gettext("Add %s") % "文書" == "文書を追加"


def test_no_translation_is_left_of_a_text_that_nobody_uses(catalogue: polib.POFile, used: set[Message]) -> None:
    unused = sorted(entry.msgid for entry in catalogue if message_of(entry) not in used)
    assert not unused, RUN_THIS


def test_translations_keep_the_placeholders(catalogue: polib.POFile) -> None:
    for entry in catalogue:
        wanted = Counter(PLACEHOLDER.findall(entry.msgid))
        assert Counter(PLACEHOLDER.findall(translation_of(entry))) == wanted, entry.msgid


def test_the_compiled_catalogue_says_what_the_written_one_does(catalogue: polib.POFile, tmp_path: Path) -> None:
    compiled = polib.mofile(str(compiled_catalogue(CATALOGUE, tmp_path) / "ja/LC_MESSAGES/django.mo"))
    assert {message_of(entry): translation_of(entry) for entry in compiled} == {
        message_of(entry): translation_of(entry) for entry in catalogue if translation_of(entry)
    }


def test_processes_that_start_at_once_compile_one_catalogue(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        (folder,) = set(pool.map(lambda _number: compiled_catalogue(CATALOGUE, tmp_path), range(8)))
    made = folder / "ja/LC_MESSAGES/django.mo"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [made]
    before = made.stat()
    assert compiled_catalogue(CATALOGUE, tmp_path) == folder
    assert made.stat() == before


def test_another_version_has_a_catalogue_of_its_own_whichever_is_newer(tmp_path: Path) -> None:
    other = tmp_path / "locale/ja/LC_MESSAGES/django.po"
    other.parent.mkdir(parents=True)
    other.write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "a"\nmsgstr "あ"\n')
    ours = compiled_catalogue(CATALOGUE, tmp_path / "data")
    theirs = compiled_catalogue(other, tmp_path / "data")
    assert gettext.translation("django", theirs, ["ja"]).gettext("a") == "あ"
    assert gettext.translation("django", ours, ["ja"]).gettext("a") == "a"


def test_django_uses_the_catalogue() -> None:
    with translation.override("ja"):
        assert translation.gettext('There is no review "{review_id}".') == "レビュー「{review_id}」はありません。"
        assert translation.pgettext("verdicts", "failed") == "不合格"
        assert translation.ngettext("%(number)s row", "%(number)s rows", 3) == "%(number)s 件"
    with translation.override("en"):
        assert translation.gettext("Documents") == "Documents"


def test_python_texts_are_found_with_plural_and_context() -> None:
    source = '_("a" "b"); ngettext("one", "many", n); pgettext_lazy("where", "what"); _(variable); other("no")'
    assert sorted(python_messages(source)) == [
        Message(msgid="ab"),
        Message(msgid="one", plural="many"),
        Message(msgid="what", context="where"),
    ]


def test_template_texts_are_found_with_plural_and_context() -> None:
    source = (
        '{% load i18n %}{% translate "It\'s" %}{% translate "what" context "where" %}{{ _("inner") }}'
        "{% blocktranslate count n=n %}{{ n }} row{% plural %}{{ n }} rows{% endblocktranslate %}"
    )
    assert sorted(template_messages(source)) == [
        Message(msgid="%(n)s row", plural="%(n)s rows"),
        Message(msgid="It's"),
        Message(msgid="inner"),
        Message(msgid="what", context="where"),
    ]


def test_an_update_keeps_translations_and_drops_what_is_gone() -> None:
    old = polib.POFile()
    old.append(polib.POEntry(msgid="kept", msgstr="残る"))
    old.append(polib.POEntry(msgid="gone", msgstr="消える"))
    made = updated_catalogue({Message(msgid="kept"): ["a.py"], Message(msgid="new"): ["b.py"]}, old)
    assert [(entry.msgid, translation_of(entry)) for entry in made] == [("kept", "残る"), ("new", "")]
