"""Occurrences of Japanese words by the lexeme that they are spellings of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from review.rules.findings import shipped
from review.rules.morphology import Word

_JUDGED_CLASSES = frozenset({"名詞", "動詞", "形容詞", "形状詞", "副詞", "接続詞", "代名詞"})
HIRAGANA = re.compile(r"[ぁ-ゖ]")
KANJI = re.compile(r"[一-龯々]")
_JAPANESE_WORD = re.compile(r"[ぁ-ゖァ-ヴー一-龯々]+")
_E_ROW = frozenset("えけげせぜてでねべめれ")
_I_ROW = frozenset("いきぎしじちぢにひびみり")
_U_TO_I = dict(zip("うくぐすつぬぶむる", "いきぎしちにびみり", strict=True))
_ONE_KANJI_SURU = re.compile(r"[一-龯]する")
_LONGEST_FRAGMENT = 2
_NOUNS = frozenset({"名詞", "接尾辞", "形状詞"})
# お問い合わせ is 問い合わせ, no compound of it.
_HONORIFICS = frozenset({"お", "ご", "御"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One spelling at ``[start, end)``."""

    form: str
    start: int
    end: int


def by_lexeme(words: list[Word]) -> Iterator[tuple[str, Occurrence]]:
    """Key Japanese words by Sudachi's normalised form: spellings of one lexeme share it.

    In official writing 申込番号 drops the last okurigana that 電子申込み keeps: a front is no other spelling then.
    """
    read = [(*keyed, _is_front(words, index)) for index, keyed in _keyed(words)]
    ends = {(key, occurrence.form) for key, occurrence, front in read if not front}
    whole = {(key, form[:-1]) for key, form in ends if HIRAGANA.fullmatch(form[-1:])}
    for key, occurrence, front in read:
        if not (front and (key, occurrence.form) in whole):
            yield key, occurrence


def _keyed(words: list[Word]) -> Iterator[tuple[int, tuple[str, Occurrence]]]:
    for index, word in enumerate(words):
        if not _is_judged(word) or not _JAPANESE_WORD.fullmatch(word.surface):
            continue
        position = "compound" if _is_in_compound(words, index) else "alone"
        if word.word_class == "動詞" and _is_used_as_noun(words, index):
            key, form = f"名詞:{_noun_of(word.normal)}:compound", word.surface
        else:
            key, form = f"{word.word_class}:{word.normal}:{position}", _citation_form(word)
        yield index, (key, Occurrence(form=form, start=word.start, end=word.end))


def _citation_form(word: Word) -> str:
    """Return the form that stands for all inflections: 行える is 行う, 生ずる is 生じる, 課する is 課す."""
    if word.word_class == "形容詞":
        return word.lemma
    if word.word_class != "動詞":
        return word.surface
    lemma = word.lemma
    if lemma[-2:-1] in _E_ROW and lemma.endswith("る") and not word.normal.endswith("る"):
        return lemma[:-2] + word.normal[-1]
    if lemma.endswith("ずる"):
        return f"{lemma[:-2]}じる"
    return lemma[:-1] if _ONE_KANJI_SURU.fullmatch(lemma) else lemma


def _is_judged(word: Word) -> bool:
    known = shipped("terminology")
    if word.normal in known["kana_kanji"]["normal_forms"]:
        return word.normal not in known["never"]["normal_forms"]
    if word.normal in known["never"]["normal_forms"] or "固有名詞" in word.part_of_speech:
        return False
    if word.word_class not in _JUDGED_CLASSES or "数詞" in word.part_of_speech or "非自立" in word.part_of_speech:
        return False
    # A single kana, or two, is too short to be told from a particle or a fragment.
    return len(word.surface) > _LONGEST_FRAGMENT or bool(KANJI.search(word.surface)) or word.word_class != "名詞"


def _is_used_as_noun(words: list[Word], index: int) -> bool:
    """Tell 表示切り替え from 切り替える: a stem right after a noun with nothing, or a noun, after it."""
    word = words[index]
    before = words[index - 1] if index else None
    after = words[index + 1] if index + 1 < len(words) else None
    after_noun = before is not None and before.end == word.start and before.word_class == "名詞"
    ends = after is None or after.start > word.end or after.segment != word.segment
    before_noun = not ends and after is not None and after.word_class in ("名詞", "形状詞")
    closes = ends or (after is not None and after.word_class == "補助記号")
    return word.surface != word.lemma and (before_noun or (after_noun and closes))


def _noun_of(verb: str) -> str:
    """Return the noun made from a verb: 切り替える → 切り替え, 取り扱う → 取り扱い."""
    if verb.endswith("る") and verb[-2:-1] in _E_ROW | _I_ROW:
        return verb[:-1]
    return verb[:-1] + _U_TO_I.get(verb[-1:], "")


def _is_in_compound(words: list[Word], index: int) -> bool:
    """Inside a compound (申込書) okurigana is dropped by rule, so 申し込み alone is no other spelling of it."""
    word = words[index]
    if word.word_class != "名詞" or not KANJI.search(word.normal):
        return False
    before = words[index - 1] if index else None
    after = words[index + 1] if index + 1 < len(words) else None
    joined_before = (
        before is not None
        and before.end == word.start
        and before.word_class in ("名詞", "接頭辞")
        and before.surface not in _HONORIFICS
    )
    joined_after = after is not None and after.start == word.end and after.word_class in ("名詞", "接尾辞")
    return joined_before or joined_after


def _is_front(words: list[Word], index: int) -> bool:
    after = words[index + 1] if index + 1 < len(words) else None
    return after is not None and after.start == words[index].end and after.word_class in _NOUNS
