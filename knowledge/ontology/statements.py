"""Statements on a topic that has no heading of its own: a labelled line, a row or column of a table, a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.ontology.passages import Passage, is_placeholder, row_cells
from knowledge.ontology.titles import headings_about
from knowledge.text.folding import fold_compact
from knowledge.types.documents import BlockKind
from knowledge.types.requirements import Topic

_LABEL = re.compile(r"^\W*+(?P<label>[^:：|\n]{1,20}?)[^\w:：]*+[:：]\W*+(?P<content>\w[^\n]*+)", re.S)
# Tables whose rows state something on what the first cell names; a table of domains or functions only lists it.
_STATING_HEADER = re.compile(
    r"項目|区分|分類|要件|特性|観点|種別|カテゴリ|指標|品質|方針|item|category|requirement", re.I
)
# The first cell of a row may number it: 3, NFR-004, 要件-3.
_NUMBER_CELL = re.compile(r"[^\W\d]{0,8}(?:[-_.]?[^\W\d]{0,6})[-_. ]?\d+(?:[-_.]\d+)*\.?")
# 対象システム: names what is spoken of, and says no scope.
_OF_DOCUMENT = re.compile(r"目的|背景|範囲|スコープ|対象外|趣旨|ねらい|狙い|purpose|scope", re.I)
_LEVEL_HEADER = re.compile(
    r"(?:大|中|小)(?:分類|項目|区分)|(?:分類|区分|種別|カテゴリー?)(?:[1-3１-３])?|要件(?:種別|区分|分類)|要求(?:種別|区分|分類)"
)
# A product's name beside データベース says what is used, and nothing on the data.
_PRODUCT_LABEL = re.compile(r"データベース|データストア|DB(?:MS)?", re.I)
_PAIR, _LEVELS, _LONGEST_HEADER = 2, 4, 12
_MIN_STATEMENT = 8
# A column says something of a row's subject; of cases, risks, defects and editions it says nothing for the document.
_OTHER_ROWS = re.compile(
    r"(?:ID|番号|No\.?|項番|#)$|ケース|手順|期待|結果|リスク|問題|懸念|課題|不具合|障害|版|バージョン|ver|rev|要件|要求"
    r"|画面|テーブル|項目|risk|step|expected|requirement",
    re.I,
)
_MIN_CELL = 2
# What may follow a topic's name that is the subject or the object of a sentence, up to the particle and what it needs.
_SUBJECT_TAIL = r"(?:の?(?:機能|要件|方式|方法|対策|設定|体制|時間|期間|作業|構成))?"
_PREDICATE = (
    r"(?:(?:は|については|に関しては|とも|も)、?(?=[^。\n]{3})"
    r"|を(?=(?:行|実施|設け|導入|採用|取得|備え|施|講じ|確保|適用|義務|有す|必須)))"
)
_SENTENCE = re.compile(r"[^。\n]+")
# Sentence ends that state; what is open, wished for or settled elsewhere states nothing.
_STATES = re.compile(
    r"(?:[うくすつぬぶむるい]|[せきりまれ]ん|ます|です|こと|もの|である|不要|なし|可能|必要|必須|対象外|禁止)[)）」]*$"
)
_OPEN = re.compile(
    r"検討|課題|問題|今後|将来|未定|別途|後日|追って|予定|望まし|望まれ|懸念|おそれ|恐れ|だろう|かも|かどうか"
    r"|フェーズにて|とは|重要|課す"
)
# A deliverable that is only named: 障害管理表（随時更新）.
_DOCUMENT_NAME = re.compile(
    r"[^\s。、はがをに（(:：|]{1,24}(?:書|表|票|一覧|リスト|台帳|報告|記録|マニュアル|資料|ログ|エビデンス)"
    r"(?:\s*[（(][^()（）]*[)）])?"
)
_MARKS = re.compile(r"^\s*(?:[-*+]|\d+[.)]|[・●■◆○□▪])?\s*(?:\[[ xX]\]\s*)?")
_MIN_NAME = 2
_SAMPLE = "`{\"'"
# What is a list of its own: a sentence that says where it is kept does not make it.
_LISTS = re.compile(r"履歴|来歴|経緯|記録|用語|略語|略称|語句|言葉|history|glossary", re.I)


def only_names_a_document(passage: Passage) -> bool:
    """Return whether an item of a list is nothing but the name of a document, as deliverables are listed."""
    if passage.kind is not BlockKind.LIST:
        return False
    return bool(_DOCUMENT_NAME.fullmatch(_MARKS.sub("", passage.text).strip(" *_")))


def labels_of(text: str, kind: BlockKind, header: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that head a line or row of a passage with a statement behind them."""
    return tuple(
        label
        for label, content in _labelled(text, kind, header)
        if len(fold_compact(content)) >= _MIN_STATEMENT
        and not is_placeholder(content.strip())
        and not (_PRODUCT_LABEL.fullmatch(label.strip()) and content.strip().isascii())
    )


def sentences_of(text: str, kind: BlockKind) -> tuple[str, ...]:
    """Return the sentences of a passage of running text, without white space and emphasis marks around them."""
    if kind is BlockKind.TABLE:
        return ()
    return tuple(sentence.strip().rstrip("*_ ") for sentence in _SENTENCE.findall(text))


class TopicStatements:
    """How a topic is stated without a heading, ready to be asked of many passages."""

    def __init__(self, topic: Topic) -> None:
        self._headings = headings_about(topic)
        self._is_asked = not topic.whole_document
        long = (name for name in topic.synonyms if not name.isascii() and len(name) >= _MIN_NAME)
        names = {name for name in long if not _LISTS.search(name)}
        longest_first = sorted(names, key=lambda name: (-len(name), name))
        self._subject = (
            re.compile(f"(?:{'|'.join(map(re.escape, longest_first))}){_SUBJECT_TAIL}{_PREDICATE}") if names else None
        )
        self._columns: dict[tuple[str, ...], tuple[int, ...]] = {}

    def are_labelled(self, passage: Passage, *, of_document: bool = False) -> bool:
        """Return whether a line or row is headed by the topic's name with a statement after it.

        ``of_document`` says that what is labelled there is the whole document's: its purpose, its scope.
        """
        return (self._is_asked or of_document) and any(
            self._headings.include(label) and (self._is_asked or _OF_DOCUMENT.search(label)) for label in passage.labels
        )

    def fill_column(self, passage: Passage) -> bool:
        """Return whether a table's row is filled in under a column that is headed by the topic's name."""
        if not self._is_asked or not passage.header:
            return False
        columns = self._columns_of(passage.header)
        if not columns:
            return False
        cells = row_cells(passage.text)
        if cells == passage.header:
            return False
        filled = (cells[at] for at in columns if at < len(cells))
        return any(len(fold_compact(cell)) >= _MIN_CELL and not is_placeholder(cell) for cell in filled)

    def have_subject(self, passage: Passage) -> bool:
        """Return whether a sentence has the topic's name as what it is about, and states how that is."""
        if not self._is_asked or self._subject is None:
            return False
        about = filter(self._subject.search, passage.sentences)
        return any(_STATES.search(said) and not _OPEN.search(said) for said in about)

    def _columns_of(self, header: tuple[str, ...]) -> tuple[int, ...]:
        if header not in self._columns:
            is_other = any(_OTHER_ROWS.search(cell) for cell in header)
            found = (at for at, cell in enumerate(header) if at and cell and self._headings.include(cell))
            self._columns[header] = () if is_other else tuple(found)
        return self._columns[header]


def _labelled(text: str, kind: BlockKind, header: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if kind is BlockKind.TABLE:
        cells = row_cells(text)
        at = 1 if len(cells) > 2 and _NUMBER_CELL.fullmatch(cells[0]) else 0
        if any(_STATING_HEADER.search(head) for head in header[: at + 1]):
            yield cells[at], " ".join(cells[at + 1 :])
        elif len(header) == len(cells) == _PAIR and len(header[1]) >= _LONGEST_HEADER:
            yield cells[0], cells[1]  # a form without a header: each row names and states
        # A list of requirements sorts them by one, two or three levels.
        for column in range(at + 1, min(len(cells), len(header), _LEVELS)):
            if _LEVEL_HEADER.fullmatch(header[column]):
                yield cells[column], " ".join(cells[column + 1 :])
        return
    lines = text.splitlines() if kind is BlockKind.PARAGRAPH else (text,)
    for found in map(_LABEL.match, lines):
        if found and found.string[found.start("content") - 1] not in _SAMPLE:
            yield found["label"], found["content"]
