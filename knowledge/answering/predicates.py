"""Whether a sentence says yes or no to a question whether something is done, or may be. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.answering.asked import AskedThing, Wanted, without_asking
from knowledge.answering.sentences import PlacedSentence
from knowledge.answering.subjects import Phrase, phrases_of
from knowledge.text.folding import fold_terms

_KANJI = "\u3005\u3400-\u4dbf\u4e00-\u9fff"
_KANA = "\u3041-\u3096"
_OKURIGANA = f"(?![はをがもにとのでへや])[{_KANA}]"
# 使って of 検査制約は使ってよいか; of 代理予約はできるか nothing, for there the subject itself is what is done.
_ASKED = re.compile(
    rf"[はをがも](?:(?P<act>[{_KANJI}]{{1,8}}(?:{_OKURIGANA}[{_KANJI}]{{1,4}}){{0,2}})[{_KANA}]{{0,20}}"
    rf"|(?:でき|出来|して)[{_KANA}]{{0,20}})(?:良い)?\Z"
)
_USES = frozenset({"使", "使用", "利用", "用"})
_USE = f"(?:使用|利用|使[{_KANA}]|用い)"
_DOES = f"(?:でき|出来|し|行[{_KANA}]|実施|認め|許可|禁止|不?可)"
_BETWEEN = r"(?:[のはをがもに、]|原則(?:として)?|一切|極力|必ず|全て|すべて){1,4}"
_END = (
    rf"[{_KANA}]*(?:(?:禁止|許可|認め|可能|必須|必要|不可|不要|可|出来|良)[{_KANA}]*)*"
    r"(?<!とき)(?<!ため)(?<!もの)(?<!ところ)(?<!か)。?\s*\Z"
)
_IN_A_WORD = re.compile(rf"[{_KANJI}\u30a1-\u30fa\u30fca-z0-9]\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAct:
    """What a question asks whether it is done: to what, written as ``said`` finds it, and what else it names."""

    said: re.Pattern[str]
    others: tuple[Phrase, ...]

    def is_decided_by(self, one: PlacedSentence) -> bool:
        """Return whether a sentence ends by saying of the asked thing that this is done or not, allowed or forbidden.

        All else that the question names must be in the sentence or above it.
        """
        text = fold_terms(one.text)
        around = f"{text}\n{fold_terms(one.around)}"
        return any(self._is_whole(text[: found.start()]) for found in self.said.finditer(text)) and all(
            other.is_in(around) for other in self.others
        )

    def _is_whole(self, before: str) -> bool:
        """Whether the thing is no part of a longer word, but for words that the question has: 予約 of 予約取消."""
        return not _IN_A_WORD.search(before) or any(before.endswith(other.folded) for other in self.others)


def read_act(question: str, asked: AskedThing) -> AskedAct | None:
    """Read what a yes-or-no question asks whether it is done; None for another question."""
    stem = without_asking(question)
    found = _ASKED.search(stem) if asked.kind is Wanted.YES_NO else None
    named = phrases_of(stem[: found.start()]) if found else ()
    if found is None or not named or not stem[: found.start()].endswith(named[-1].folded):
        return None
    act, thing = found["act"], named[-1]
    verb = _DOES if act is None else _USE if act in _USES else f"[{_KANA}]?".join(re.findall(f"[{_KANJI}]", act))
    return AskedAct(said=re.compile(f"(?:{thing.pattern}){_BETWEEN}{verb}{_END}"), others=named[:-1])
