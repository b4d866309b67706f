"""What a question is about, in whole words, and what a row, an item or a sentence is about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sudachipy import Morpheme, SplitMode

from knowledge.answering.asked import AskedThing, kind_of_noun
from knowledge.answering.sentences import PlacedSentence
from knowledge.answering.values import values_of
from knowledge.index.morphemes import ENGLISH_STOP_WORDS, is_english, only_asks
from knowledge.text.folding import fold_terms, normalise
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.spellings import spellings
from knowledge.text.tables import cells_of

_ENGLISH_WORD = re.compile(r"[A-Za-z0-9][\w'./-]*\w|[A-Za-z0-9]")
_JOINS = frozenset("-_./・")
_IDENTIFIER = re.compile(r"[a-z]*[0-9][a-z0-9]*(?:[._-][a-z0-9]+)*|[a-z][a-z0-9]+(?:[._-][a-z0-9]+)*")
# 保存期間：5年 is about 保存期間.
_LABELLED = re.compile(r"[*_`「【]{0,2}(?P<key>[^。、:：|\n]{2,30}?)[*_`」】]{0,2}[ \u3000]{0,3}[:：][ \u3000]{0,3}\S")
_TOPIC = re.compile(r"(?P<topic>[^。、\n|]{2,40}?)(?:は|とは|では|には|については)(?![ぁ-ん]?じめ)")
# A shorter name of a title may be of something else that is in the document, too.
_LEAST_OF_TITLE = 4
_BARE_NUMBER = re.compile(r"[\d().#-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Something that a question names: ``shown`` as it is written, ``folded`` and its ``parts`` to be looked for.

    A part may be spelt otherwise where it is looked for: 取消 for 取り消し, 1人 for 一人.
    """

    shown: str
    folded: str
    parts: tuple[str, ...]

    def is_in(self, folded: str) -> bool:
        """Return whether a folded text has it, whole or in all its parts."""
        return self.folded in folded or all(part in folded or spellings(part).search(folded) for part in self.parts)

    @property
    def pattern(self) -> str:
        """A regular expression of the whole phrase in all spellings of its parts."""
        return f"{re.escape(self.folded)}|{''.join(f'(?:{spellings(part).pattern})' for part in self.parts)}"


def phrases_of(question: str) -> tuple[Phrase, ...]:
    """Return what a question names, each once, without what only asks.

    >>> [one.shown for one in phrases_of("図書予約システムの開発費はいくらですか")]
    ['図書予約システム', '開発費']
    >>> [one.shown for one in phrases_of("How long is an access log kept?")]
    ['access log kept']
    """
    found = _english(question) if is_english(question) else _japanese(question)
    return tuple({one.folded: one for one in found}.values())


def _english(question: str) -> Iterator[Phrase]:
    run: list[str] = []
    end = 0
    for match in _ENGLISH_WORD.finditer(question):
        word = match[0]
        is_empty = word.casefold() in ENGLISH_STOP_WORDS
        if run and (is_empty or question[end : match.start()].strip()):
            yield _phrase(" ".join(run), run)
            run = []
        if not is_empty:
            run.append(word)
        end = match.end()
    if run:
        yield _phrase(" ".join(run), run)


def _japanese(question: str) -> Iterator[Phrase]:
    run: list[Morpheme] = []
    for word in tokenizer().tokenize(normalise(question)[:MAX_INPUT_CHARACTERS], SplitMode.A):
        kind = word.part_of_speech()[0]
        is_name = kind in ("名詞", "接頭辞", "接尾辞", "形状詞") or (
            word.surface().isascii() and word.surface().isalnum()
        )
        if only_asks(word) or not (is_name or (run and word.surface() in _JOINS)):
            yield from _of_run(run)
            run = []
        else:
            run.append(word)
    yield from _of_run(run)


def _of_run(run: Sequence[Morpheme]) -> Iterator[Phrase]:
    """A run of nouns as one phrase; a suffix alone, as 回 of 何回, is none."""
    names = [one.surface() for one in run]
    while names and (names[-1] in _JOINS or not names[-1].strip()):
        names.pop()
    if names and run[0].part_of_speech()[0] != "接尾辞":
        yield _phrase("".join(names).strip(), [name for name in names if name not in _JOINS])


def _phrase(shown: str, parts: Sequence[str]) -> Phrase:
    return Phrase(shown=shown, folded=fold_terms(shown), parts=tuple(fold_terms(part) for part in parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """What a question is about, and the identifiers among it: codes, versions, years, names in Latin letters."""

    question: str
    phrases: tuple[Phrase, ...]
    identifiers: frozenset[str]
    asked: AskedThing

    def signs(self, one: PlacedSentence, passage: str) -> dict[str, float]:
        """Tell how far a sentence of a passage (folded) is about that: each sign -1 where it has nothing to go by."""
        text, title = fold_terms(one.text), fold_terms(one.hit.title)
        above = [fold_terms(heading) for heading in (*one.hit.section_path, one.heading)]
        headings = [heading for heading in above if heading not in title and title not in heading]
        around = "\n".join([*headings, fold_terms(one.header), fold_terms(one.label)])
        cells = cells_of(text) if text.startswith("|") else []
        key = key_of(cells) if cells else _label_of(text)
        left = [p for p in self.phrases if not p.is_in(around) and not _names_title(p, title)]
        topic = _TOPIC.match(text)
        everything = set(_IDENTIFIER.findall(f"{text}\n{around}\n{title}"))
        missing = float(min(len(self.identifiers - everything), 3))
        columns = cells_of(fold_terms(one.header)) if cells and one.header else []
        in_column = self._is_asked(columns) if columns else -1.0
        # the word whose meaning is asked for may be no phrase of the question: 取置きの意味は
        is_found = self._is_asked([key]) > 0 or _touches(left, key, cells, whole=in_column > 0)
        is_beside = bool(cells and key and left) and not is_found
        about_key = _share_of(left, key) if key and left else -1.0
        return {
            "phrases": _share_in(self.phrases, f"{text}\n{around}"),
            "phrases in passage": _share_in(self.phrases, f"{passage}\n{around}\n{title}"),
            "about key": about_key,
            "key of asked kind": float(about_key > 0 and kind_of_noun(key) is self.asked.kind),
            "column of asked kind": self._in_column_of_kind(columns, cells),
            "key beside": float(is_beside),
            "about topic": _share_of(left, topic["topic"]) if topic and left and not key else -1.0,
            "identifiers missing": missing,
            "identifiers missing in row": missing if cells else 0.0,
            "asked is key": self._is_asked([key]) if key else -1.0,
            "asked is column": in_column,
            "column fits": self._column_fits(columns, cells),
        }

    def _column_fits(self, columns: Sequence[str], cells: Sequence[str]) -> float:
        """How far the cell below the name of what is asked for is of the asked kind."""
        found = [cell for name, cell in zip(columns, cells, strict=False) if self._is_asked([name]) > 0]
        return max((values_of(cell, self.question, self.asked).fits for cell in found if cell), default=-1.0)

    def _in_column_of_kind(self, columns: Sequence[str], cells: Sequence[str]) -> float:
        """How far a cell below a name of the asked kind is of that kind: below 納品期限 for a question for a time."""
        found = [cell for name, cell in zip(columns, cells, strict=False) if kind_of_noun(name) is self.asked.kind]
        return max((values_of(cell, self.question, self.asked).fits for cell in found if cell), default=-1.0)

    def _is_asked(self, names: Sequence[str]) -> float:
        wanted = [one for one in (self.asked.phrase, self.asked.focus) if one]
        if not wanted:
            return -1.0
        if any(one == name for one in wanted for name in names):
            return 1.0
        return 0.6 if any(name and (one in name or name in one) for one in wanted for name in names) else 0.0


def read_subjects(question: str, asked: AskedThing) -> Subjects:
    """Read what a question is about."""
    identifiers = frozenset() if is_english(question) else frozenset(_IDENTIFIER.findall(fold_terms(question)))
    phrases = tuple(one for one in phrases_of(question) if one.folded != asked.unit)
    return Subjects(question=question, phrases=phrases, identifiers=identifiers, asked=asked)


def key_of(cells: Sequence[str]) -> str:
    """Return what a row is about: its first cell that is no bare number; empty without one."""
    return next((cell for cell in cells if cell and not _BARE_NUMBER.fullmatch(cell)), "")


def _label_of(text: str) -> str:
    """What a labelled item is about: what is before its colon."""
    labelled = _LABELLED.match(text)
    return labelled["key"].strip() if labelled else ""


def _names_title(phrase: Phrase, title: str) -> bool:
    return len(phrase.folded) >= _LEAST_OF_TITLE and phrase.is_in(title)


def _share_in(phrases: Sequence[Phrase], text: str) -> float:
    return sum(one.is_in(text) for one in phrases) / len(phrases) if phrases else -1.0


def _share_of(phrases: Sequence[Phrase], key: str) -> float:
    return sum(one.is_in(key) or key in one.folded for one in phrases) / len(phrases)


def _touches(phrases: Sequence[Phrase], key: str, cells: Sequence[str], *, whole: bool) -> bool:
    """Return whether a row is found by its key, or by another cell that is one of the phrases.

    Unless ``whole``, by one that has it, too: who asks for no column may ask for the key.
    """
    return any(
        one.is_in(key) or key in one.folded or any(one.folded == cell if whole else one.is_in(cell) for cell in cells)
        for one in phrases
    )
