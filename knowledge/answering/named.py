"""What a question names: codes, headings, and the word that it asks the meaning of. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.answering.sentences import PlacedSentence
from knowledge.text.codes import kind_of, names_in
from knowledge.text.folding import fold_terms
from knowledge.text.outline import unnumbered_title
from knowledge.text.tables import cells_of

_MEANING = re.compile(
    r"\s*+[「『\"]?(?P<ja>[^「」『』\"。、]{1,40}?)[」』\"]?(?:とは|って何|の(?:意味|定義|読み方))"
    r"|what (?:is|are|does) (?:an? |the )?(?P<en>.{1,40}?)(?: mean| stand for)?\s*\??\Z"
)
_DEFINES = re.compile(r"(?:をいう|を指す|を意味する|のこと(?:である|です)?|means|stands for)[^。]{0,3}\Z")
_LEAST_HEADING = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a question names, read once for all sentences; ``text`` is folded."""

    codes: frozenset[str]
    text: str
    meaning_of: str

    def heading_named(self, one: PlacedSentence) -> str:
        """Return what a sentence is under if the question names it, by its words or by its code; else nothing."""
        heading = fold_terms(unnumbered_title(one.heading)).strip("()「」【】 ")
        if len(heading) >= _LEAST_HEADING and heading in self.text:
            return heading
        named = self.codes.intersection(names_in(fold_terms(f"{heading}\n{one.label}")))
        return "" if one.is_label else "".join(sorted(named))

    def has_code(self, one: PlacedSentence) -> bool:
        """Return whether a sentence, or the label above it, has one of the codes."""
        return not self.codes.isdisjoint(names_in(fold_terms(f"{one.text}\n{one.label}")))

    def is_beside(self, one: PlacedSentence) -> bool:
        """Return whether a sentence is about other codes of these kinds: JB031 where JB032 is asked for."""
        kinds = {kind_of(code) for code in self.codes}
        found = set(names_in(fold_terms(one.text))) or set(names_in(fold_terms(one.label)))
        return found.isdisjoint(self.codes) and any(kind_of(code) in kinds for code in found)

    def is_explained_by(self, one: PlacedSentence) -> bool:
        """Return whether a sentence says what the word means that is asked for."""
        if not self.meaning_of:
            return False
        text = fold_terms(one.text)
        if text.startswith("|"):
            return cells_of(text)[0] == self.meaning_of
        is_about = re.match(rf"[「『\"]?{re.escape(self.meaning_of)}[」』\"]?(?:\([^)]*\))?(?:とは|[:：]| means)", text)
        return is_about is not None or (self.meaning_of in text and _DEFINES.search(text) is not None)


def read_named(question: str) -> Named:
    """Return what a question names.

    >>> sorted(read_named("JB032の処理時間上限は何分か").codes), read_named("調定とは何ですか").meaning_of
    (['jb032'], '調定')
    """
    folded = fold_terms(question)
    meaning = _MEANING.match(folded)
    return Named(
        codes=frozenset(names_in(folded)),
        text=folded,
        meaning_of=(meaning["ja"] or meaning["en"] or "").strip() if meaning else "",
    )
