"""Names that are written in two ways: with and without a dot, in brackets of two widths, in two scripts, misspelt."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from knowledge.text.folding import normalise
from review.rules.base import shipped
from review.rules.consistency.spelling_types import Kind, Occurrence, Spellings, is_quoted, ranked
from review.rules.prose import Prose

_LONG_LATIN = re.compile(r"(?<![A-Za-z0-9_./\\@:#$%&+=<>{}\-])[A-Za-z]{10,60}(?![A-Za-z0-9_/\\@:=])")
_SAME_START, _MOST_SLIPS, _LONGEST_ENDING = 4, 2, 3
# A list of several things ends in no word for one of them; what does is a name.
_THINGS = ("リスト", "一覧", "画面", "テーブル", "マスター", "マスタ", "帳票", "台帳", "ファイル", "サーバー", "サーバ")
_DOTTED_NAME = re.compile(
    r"(?<![一-龯々ァ-ヴー・])[一-龯々ァ-ヴー]{2,}(?:・[一-龯々ァ-ヴー]{2,})+"
    rf"(?:{'|'.join(f'(?<={end})' for end in _THINGS)})(?![一-龯々ァ-ヴー・])"
)
_JOINED_NAME = re.compile(r"[一-龯々ァ-ヴー・]{5,}")
# A word of an identifier: description in quiztype_description.
_JOINED_LATIN = re.compile(
    r"(?<=[A-Za-z0-9]_)[a-z]{10,60}(?![A-Za-z0-9/\\@:=.])"
    r"|(?<![A-Za-z0-9_./\\@:#$%&+=<>{}\-])[a-z]{10,60}(?=_[A-Za-z0-9])"
)
_REMARKED = re.compile(
    r"(?<![一-龯々ァ-ヴーA-Za-z0-9])[一-龯々ァ-ヴーA-Za-z0-9]{2,12}[（(][一-龯々ァ-ヴーぁ-ん]{1,6}[)）]"
)
# cartの, not cartテーブル or shopping cart: what names a part of a program is no word of the text.
_LOWER_WORD = re.compile(
    r"(?<![A-Za-z0-9_./\\\-@:#<>{}=&?])(?<![A-Za-z] )[a-z]{4,12}(?=[ぁ-んァ-ヴー一-龯])"
    r"(?!テーブル|カラム|クラス|タグ|関数|メソッド|フォルダ|ディレクトリ|キー|属性|要素|型|列|値|ファイル|項目|コマンド|オブジェクト|エンティティ|コンポーネント)"
)
_PART_NAME = r"(?<![A-Za-z0-9_./\-一-龯々ァ-ヴーに])(?P<name>{names})[ 　]?(?P<part>{parts})(?![一-龯々ァ-ヴー])"
_KATAKANA = re.compile(r"(?<![ァ-ヴー])[ァ-ヴー]{2,12}(?![ァ-ヴー])")
_MIXED_NAME = re.compile(
    r"(?<![A-Za-z0-9_./@:\-])(?P<first>[A-Z][A-Za-z]{2,20})"
    r"(?:[ 　]?(?P<katakana>[ァ-ヴー]{2,12})(?![ァ-ヴー])|[ ](?P<latin>[A-Z][a-z]{2,14})(?![A-Za-z0-9_/.]))"
)


def dotted(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key names of things that are written with a middle dot somewhere: 在庫・注残リスト beside 在庫注残リスト."""
    written = {match.group() for match in _DOTTED_NAME.finditer(prose.masked) if not is_quoted(match.start(), prose)}
    joined = {name.replace("・", "") for name in written}
    if not joined:
        return
    for match in _JOINED_NAME.finditer(prose.masked):
        key = match.group().replace("・", "")
        if key in joined and not is_quoted(match.start(), prose):
            yield key, Occurrence(form=match.group(), start=match.start(), end=match.end())


def bracketed(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key names with a short remark in brackets, whose width may differ: 氏名(カナ) beside 氏名（カナ）."""
    for match in _REMARKED.finditer(prose.masked):
        if not is_quoted(match.start(), prose):
            yield f"bracket:{normalise(match[0])}", Occurrence(form=match[0], start=match.start(), end=match.end())


def in_two_scripts(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key names that end in a loanword after a Latin word: Googleカレンダー beside Google Calendar."""
    english = _english_words()
    for match in _MIXED_NAME.finditer(prose.masked):
        word = english.get(match["katakana"]) or match["latin"]
        if word and word.casefold() in english.values() and not is_quoted(match.start(), prose):
            form = match[0] if match["latin"] else f"{match['first']}{match['katakana']}"
            yield (
                f"scripts:{match['first']} {word.casefold()}",
                Occurrence(form=form, start=match.start(), end=match.end()),
            )


def beside_loanwords(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key everyday English words in lower case within Japanese, and the katakana for them: cartの内容 beside カート."""
    english = _english_words()
    alone = set(shipped("terminology")["loanwords"]["alone"])
    written = [match for match in _LOWER_WORD.finditer(prose.masked) if match[0] in alone]
    if not written:
        return
    wanted = {match[0] for match in written}
    katakana = (match for match in _KATAKANA.finditer(prose.masked) if english.get(match[0]) in wanted)
    for match in (*written, *katakana):
        if not is_quoted(match.start(), prose):
            key = f"alone:{english.get(match[0], match[0])}"
            yield key, Occurrence(form=match[0], start=match.start(), end=match.end())


def on_screen(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key parts of a screen that are called in English or in Japanese: Searchボタン beside 検索ボタン."""
    pattern, english = _parts_of_screen()
    for match in pattern.finditer(prose.masked):
        if not is_quoted(match.start(), prose):
            word = match["name"].casefold()
            key = f"screen:{english.get(word, word)} {match['part']}"
            yield key, Occurrence(form=match[0], start=match.start(), end=match.end())


@lru_cache(maxsize=1)
def _parts_of_screen() -> tuple[re.Pattern[str], dict[str, str]]:
    """The pattern of names in front of a part of a screen, and the Japanese that stands for each of them."""
    table = shipped("terminology")["on_screen"]
    english = {word: japanese[0] for word, japanese in table["words"].items()}
    english |= {each: japanese[0] for japanese in table["words"].values() for each in japanese}
    names = "|".join(sorted(map(re.escape, english), key=len, reverse=True))
    parts = "|".join(table["parts"])
    return re.compile(_PART_NAME.format(names=names, parts=parts), re.IGNORECASE), english


@lru_cache(maxsize=1)
def _english_words() -> dict[str | None, str]:
    """The English words that katakana words were taken from, with and without the last long vowel mark."""
    words = shipped("terminology")["loanwords"]["words"]
    return dict(words) | {katakana.removesuffix("ー"): latin for katakana, latin in words.items()}


def misspelt(text: str, prose: Prose) -> Iterator[Spellings]:
    """Yield long Latin names that are written with a letter more, less or other in one or two places."""
    places = _latin_places(text, prose)
    known = shipped("terminology")["misspelt"]["words"]
    for wrong in places:
        if (right := known.get(wrong, "")) in places:
            yield Spellings(kind=Kind.OTHER, forms=((right, tuple(places[right])), (wrong, tuple(places[wrong]))))
    by_start: dict[str, list[str]] = defaultdict(list)
    for name in places:
        by_start[name[:_SAME_START]].append(name)
    for names in by_start.values():
        for rare in names:
            if len(places[rare]) > _MOST_SLIPS:
                continue
            for common in names:
                if len(places[common]) > 2 * len(places[rare]) and _is_one_slip(rare, common):
                    yield ranked(Kind.OTHER, {name: places[name] for name in (common, rare)})


def _latin_places(text: str, prose: Prose) -> dict[str, list[Occurrence]]:
    """Return the long Latin words of the prose, and those within identifiers: description in quiztype_description."""
    places: dict[str, list[Occurrence]] = defaultdict(list)
    for match in _LONG_LATIN.finditer(prose.masked):
        if not is_quoted(match.start(), prose):
            places[match.group()].append(Occurrence(form=match.group(), start=match.start(), end=match.end()))
    for match in _JOINED_LATIN.finditer(text) if places else ():
        places[match[0]].append(Occurrence(form=match[0], start=match.start(), end=match.end()))
    return dict(places)


def _is_one_slip(one: str, other: str) -> bool:
    """Whether two names differ in one letter within them; endings differ by grammar, and capitals by custom.

    >>> _is_one_slip("RegistrationHandler", "RegistratonHandler"), _is_one_slip("Requirement", "Requirements")
    (True, False)
    """
    if one.casefold() == other.casefold() or abs(len(one) - len(other)) > 1:
        return False
    at = next((at for at, (first, second) in enumerate(zip(one, other, strict=False)) if first != second), None)
    if at is None or at >= min(len(one), len(other)) - _LONGEST_ENDING:
        return False
    rests = {one[at + 1 :], one[at:]}, {other[at + 1 :], other[at:]}
    is_swapped = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    if len(one) == len(other):
        return one[at + 1 :] == other[at + 1 :] or is_swapped
    return bool(rests[0] & rests[1])
