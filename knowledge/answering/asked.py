"""What a question asks for beside its words: a number, what a word means, something with a code. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.answering.sentences import PlacedSentence
from knowledge.answering.support import Terms, numbers_of, terms_of
from knowledge.text.codes import kind_of, names_in
from knowledge.text.dates import find_dates
from knowledge.text.folding import fold_terms
from knowledge.text.outline import bare_title
from knowledge.text.tables import cells_of

_NUMBER = re.compile(
    r"何\s*(?:[秒分時日週月年件人名個回台円割点度桁部本枚校社通箱冊%]|か[所月]|文字|ページ|パーセント)|いつ(?!も)|いく[つら]"
    r"|ど[のれ](?:[くぐ]らい|ほど|だけ|程度)|\b(?:when|how (?:many|much|long|often|large|fast|old))\b"
)
_TIME = re.compile(r"いつ(?!も)|何[時日月年曜](?!間)|\bwhen\b|日時|期[日限]")
_CLOCK = re.compile(r"[0-9](?:時(?!間)|:[0-9]{2})|[0-9][月日](?!間)|[0-9](?:営業日|[日週月年]間?)?(?:以内|前|後)")
_MEANING = re.compile(
    r"\s*+[「『\"]?(?P<ja>[^「」『』\"。、]{1,40}?)[」』\"]?(?:とは|って何|の(?:意味|定義|読み方))"
    r"|what (?:is|are|does) (?:an? |the )?(?P<en>.{1,40}?)(?: mean| stand for)?\s*\??\Z"
)
_DEFINES = re.compile(r"(?:をいう|を指す|を意味する|のこと(?:である|です)?|means|stands for)[^。]{0,3}\Z")
_LEAST_HEADING = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, read once for all sentences. ``text`` is folded, ``meaning_of`` the word it asks the meaning of."""

    terms: Terms
    codes: frozenset[str]
    text: str
    meaning_of: str
    wants_number: bool
    wants_time: bool

    def has_number(self, one: PlacedSentence) -> bool:
        """Tell whether a sentence gives the number that is asked for: who asks when, a time and no other number."""
        if self.wants_time:
            return _tells_time(one.text)
        return self.wants_number and bool(numbers_of(one.text))

    def heading_named(self, one: PlacedSentence) -> str:
        """Give what a sentence stands under if the question names it, by its words or by its code; else nothing."""
        heading = fold_terms(bare_title(one.hit.section_path[-1])).strip("()「」【】 ") if one.hit.section_path else ""
        if len(heading) >= _LEAST_HEADING and heading in self.text:
            return heading
        named = self.codes.intersection(names_in(fold_terms(f"{heading}\n{one.label}")))
        return "" if one.is_label else "".join(sorted(named))

    def has_code(self, one: PlacedSentence) -> bool:
        """Tell whether a sentence, or the label above it, has one of the codes."""
        return not self.codes.isdisjoint(names_in(fold_terms(f"{one.text}\n{one.label}")))

    def is_beside(self, one: PlacedSentence) -> bool:
        """Tell whether a sentence is about other codes of these kinds: JB031 where JB032 is asked for."""
        kinds = {kind_of(code) for code in self.codes}
        found = set(names_in(fold_terms(one.text))) or set(names_in(fold_terms(one.label)))
        return found.isdisjoint(self.codes) and any(kind_of(code) in kinds for code in found)

    def is_explained_by(self, one: PlacedSentence) -> bool:
        """Tell whether a sentence says what the word means that is asked for."""
        if not self.meaning_of:
            return False
        text = fold_terms(one.text)
        if text.startswith("|"):
            return cells_of(text)[0] == self.meaning_of
        is_about = re.match(rf"[「『\"]?{re.escape(self.meaning_of)}[」』\"]?(?:\([^)]*\))?(?:とは|[:：]| means)", text)
        return is_about is not None or (self.meaning_of in text and _DEFINES.search(text) is not None)


def read_question(question: str) -> Asked:
    """Tell what a question asks for.

    >>> asked = read_question("JB032の処理時間上限は何分か")
    >>> asked.wants_number, sorted(asked.codes), read_question("調定とは何ですか").meaning_of
    (True, ['jb032'], '調定')
    """
    folded = fold_terms(question)
    meaning = _MEANING.match(folded)
    return Asked(
        terms=terms_of(question),
        codes=frozenset(names_in(folded)),
        text=folded,
        meaning_of=(meaning["ja"] or meaning["en"] or "").strip() if meaning else "",
        wants_number=_NUMBER.search(folded) is not None,
        wants_time=_TIME.search(folded) is not None,
    )


def _tells_time(text: str) -> bool:
    folded = fold_terms(text)
    return bool(find_dates(folded)) or _CLOCK.search(folded) is not None
