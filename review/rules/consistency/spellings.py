"""Occurrences of words by what is the same word, so that different spellings of it come together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from knowledge.text.folding import normalise
from knowledge.types.documents import Block
from review.rules.base import shipped
from review.rules.consistency.spelling_types import Kind, Occurrence, Spellings, is_quoted, ranked
from review.rules.consistency.written_names import (
    beside_loanwords,
    bracketed,
    dotted,
    in_two_scripts,
    misspelt,
    on_screen,
)
from review.rules.prose import Prose, Word, read_prose, read_words

_KATAKANA_WORD = re.compile(r"[ァ-ヴヷ-ヺー・･ｦ-ﾟ]{2,}")
_FEWEST_FORMS = 2
_SHORT_NAME = re.compile(r"[A-Z]{2,6}")
_TWO_KANJI = re.compile(r"[一-龯々]{2,4}")
_LATIN_WORD = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]+(?:[-‐－][A-Za-zＡ-Ｚａ-ｚ]+)*")
# Parts of file names, paths, variables, versions and markup are names of things, not words.
_PART_OF_NAME = re.compile(r"[A-Za-z0-9_./\\@:#$%&+=<>{}\[\]\-－＿]")
# A word that a cell consists of is a value, such as an account's name.
_VALUE = re.compile(r"(?<=\|)[ \t*]*(?P<word>[A-Za-z]+)[ \t*]*(?=\|)")
# A line of a narrow column may break within a word: ユーザ, ー認証.
_GOES_ON = re.compile(r"[ \t　]*\n\s*[ーァィゥェォャュョッ]")
_FOLDED_KANA = str.maketrans("ァィゥェォヵヶッャュョヮヴ", "アイウエオカケツヤユヨワブ", "ー・")
_SHORTEST_KATAKANA = 3
_JUDGED_CLASSES = frozenset({"名詞", "動詞", "形容詞", "形状詞", "副詞", "接続詞", "代名詞"})
HIRAGANA = re.compile(r"[ぁ-ゖ]")
KANJI = re.compile(r"[一-龯々]")
_JAPANESE_WORD = re.compile(r"[ぁ-ゖァ-ヴー一-龯々]+")
_E_ROW = frozenset("えけげせぜてでねべめれ")
_I_ROW = frozenset("いきぎしじちぢにひびみり")
_U_TO_I = dict(zip("うくぐすつぬぶむる", "いきぎしちにびみり", strict=True))
_ONE_KANJI_SURU = re.compile(r"[一-龯]する")
_LONGEST_FRAGMENT = 2
_ALL_KANA = re.compile("[ぁ-ん]{2,}")
_OF_A_READING = re.compile(r"[ \t]?(?:[:：]|[(（](?:ひらがな|かな|カナ|カタカナ|よみ|読み))")
_NOUNS = frozenset({"名詞", "接尾辞", "形状詞"})
# お問い合わせ is 問い合わせ, no compound of it.
_HONORIFICS = frozenset({"お", "ご", "御"})


def variants(text: str, blocks: tuple[Block, ...], synonyms: Iterable[tuple[str, ...]]) -> tuple[Spellings, ...]:
    """Return the words that this document spells in more than one way, ordered by their first occurrence.

    Quotations in 「」, code, links and identifiers are not looked at; neither are proper names.
    """
    prose = read_prose(text, blocks)
    words = [
        word
        for word in read_words(text, blocks)
        if not is_quoted(word.start, prose)
        and not _GOES_ON.match(prose.masked, word.end)
        and not _is_reading(word, prose)
    ]
    found = [
        *_collect(by_lexeme(words)),
        *_collect(_tails(words)),
        *_collect(_katakana(prose)),
        *_collect(_latin(prose)),
        *_collect(dotted(prose)),
        *_collect(bracketed(prose)),
        *_collect(in_two_scripts(prose)),
        *_collect(beside_loanwords(prose)),
        *_in_two_languages(on_screen(prose)),
        *misspelt(text, prose),
        *_named(prose, Kind.SYNONYM, synonyms),
        *_named(prose, Kind.KANA_KANJI, (tuple(forms) for forms in shipped("terminology")["pairs"]["forms"])),
    ]
    return tuple(sorted(_distinct(found), key=lambda each: min(places[0].start for _, places in each.forms)))


def _is_reading(word: Word, prose: Prose) -> bool:
    """Tell whether a word in kana names a field that has the reading: なまえ：, みょうじ（ひらがな）."""
    return bool(_ALL_KANA.fullmatch(word.surface) and _OF_A_READING.match(prose.masked, word.end))


def _katakana(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key runs of katakana without long vowel marks, middle dots, small kana and half width."""
    for match in _KATAKANA_WORD.finditer(prose.masked):
        word = match.group().strip("・･")
        key = normalise(word).translate(_FOLDED_KANA)
        # 検証・エラー処理 names two things.
        is_two = "・" in word and KANJI.match(prose.masked, match.end()) is not None
        is_cut = is_two or _GOES_ON.match(prose.masked, match.end())
        if len(key) >= _SHORTEST_KATAKANA and not is_cut and not is_quoted(match.start(), prose):
            start = match.start() + match.group().index(word)
            yield key, Occurrence(form=word, start=start, end=start + len(word))


def _latin(prose: Prose) -> Iterator[tuple[str, Occurrence]]:
    """Key Latin words without case, width and hyphens; only those that stand alone beside Japanese.

    In a run of English words capitals follow the rules of titles, parts of names are spelled as the name is, and a
    word alone in a cell may be a value.
    """
    ignored = set(shipped("terminology")["latin"]["ignore"])
    values = {match["word"] for match in _VALUE.finditer(prose.masked)}
    for match in _LATIN_WORD.finditer(prose.masked):
        word = match.group()
        key = re.sub(r"[-‐－]", "", normalise(word)).casefold()
        if (
            len(key) > 1
            and key not in ignored
            and word not in values
            and _stands_alone(prose.masked, match)
            and not is_quoted(match.start(), prose)
        ):
            yield key, Occurrence(form=word, start=match.start(), end=match.end())


def _stands_alone(masked: str, match: re.Match[str]) -> bool:
    before, after = masked[max(0, match.start() - 2) : match.start()], masked[match.end() : match.end() + 2]
    if _PART_OF_NAME.match(before[-1:]) or _PART_OF_NAME.match(after[:1]):
        return False
    beside = f"{before.strip()[-1:]}{after.strip()[:1]}"
    return bool(re.search(r"[ぁ-ヿ一-龯々]", beside)) and not re.search(r"[A-Za-z0-9]", beside)


def _named(prose: Prose, kind: Kind, groups: Iterable[tuple[str, ...]]) -> Iterator[Spellings]:
    for names in groups:
        if sum(name in prose.masked for name in names) < _FEWEST_FORMS:
            continue
        places: dict[str, list[Occurrence]] = defaultdict(list)
        matches = list(_names_pattern(names).finditer(prose.masked))
        glosses = {match.start(): match.group() for match in matches if _is_gloss(prose.masked, match, names)}
        # 受入テスト (UAT) introduces a short name for what follows.
        introduced = {name for name in glosses.values() if _SHORT_NAME.fullmatch(name)}
        for match in matches:
            is_other = match.start() not in glosses and match.group() not in introduced
            if is_other and not is_quoted(match.start(), prose):
                places[match.group()].append(Occurrence(form=match.group(), start=match.start(), end=match.end()))
        # ユーザ beside ユーザー is a matter of the long vowel mark, found as such.
        if len({name.replace("ー", "") for name in places}) > 1:
            yield ranked(kind, places)


@lru_cache(maxsize=256)
def _names_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Match whole names only: ユーザ is not in ユーザビリティ, nor e-mail in e-mailing."""
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    katakana, latin = "[ァ-ヴー]", "[A-Za-z]"
    return re.compile(
        rf"(?<!{katakana})(?<!{latin})(?:{alternatives})"
        rf"(?:(?<={katakana})(?!{katakana})|(?<={latin})(?!{latin})|(?<!{katakana})(?<!{latin}))"
    )


def _is_gloss(masked: str, match: re.Match[str], names: tuple[str, ...]) -> bool:
    """In 単体テスト（ユニットテスト） the second name explains the first; that is no mixing."""
    before = masked[: match.start()].rstrip()
    if before[-1:] not in ("（", "("):
        return False
    return any(before[:-1].rstrip().endswith(name) for name in names)


def _in_two_languages(keyed: Iterable[tuple[str, Occurrence]]) -> Iterator[Spellings]:
    for group in _collect(keyed):
        if len({form.isascii() or form[0].isascii() for form, _ in group.forms}) > 1:
            yield Spellings(kind=Kind.SYNONYM, forms=group.forms)


def _collect(keyed: Iterable[tuple[str, Occurrence]]) -> Iterator[Spellings]:
    groups: dict[str, dict[str, list[Occurrence]]] = defaultdict(lambda: defaultdict(list))
    for key, occurrence in keyed:
        groups[key][occurrence.form].append(occurrence)
    for forms in groups.values():
        if len(forms) > 1:
            yield ranked(_kind(tuple(forms)), forms)


def _kind(forms: tuple[str, ...]) -> Kind:
    folded = {normalise(form) for form in forms}
    if len(folded) == 1:
        return Kind.WIDTH
    if any(form.isascii() for form in folded) and not all(form.isascii() for form in folded):
        return Kind.OTHER
    if all(form.replace("-", "").isascii() for form in folded):
        return Kind.CASE if len({form.replace("-", "") for form in folded}) == len(folded) else Kind.HYPHEN
    if len({form.replace("ー", "") for form in folded}) == 1:
        return Kind.LONG_VOWEL
    if all(_KATAKANA_WORD.fullmatch(form) for form in folded):
        return Kind.KATAKANA
    if len({HIRAGANA.sub("", form) for form in folded}) == 1:
        return Kind.OKURIGANA
    return Kind.KANA_KANJI if any(not KANJI.search(form) for form in folded) else Kind.OTHER


def _distinct(found: list[Spellings]) -> Iterator[Spellings]:
    """Drop a group that only repeats places of a larger one: ユーザ/ユーザー inside ユーザID/ユーザーID.

    Two names or capitals beside small letters may be of two things; such a group leaves others their own finding.
    """
    covered: set[int] = set()
    covered_by_facts: set[int] = set()
    for group in sorted(found, key=lambda each: (-each.count, each.forms[0][0])):
        places = {position for _, where in group.forms for each in where for position in range(each.start, each.end)}
        rarer = {each.start for _, where in group.forms[1:] for each in where}
        is_fact = group.kind not in (Kind.CASE, Kind.SYNONYM)
        if not rarer <= (covered_by_facts if is_fact else covered):
            covered |= places
            covered_by_facts |= places if is_fact else set()
            yield group


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


def _tails(words: list[Word]) -> Iterator[tuple[str, Occurrence]]:
    """Key nouns made from verbs where nothing is joined behind them: レイヤー切替え beside 背景図の切替.

    In front of a noun the last okurigana may be dropped (切替日); at the end of a compound it is kept as alone.
    """
    found: dict[str, list[tuple[str, Occurrence]]] = defaultdict(list)
    for index, word in enumerate(words):
        bare = word.surface[:-1] if HIRAGANA.fullmatch(word.surface[-1:]) else word.surface
        if (
            word.word_class != "名詞"
            or not _TWO_KANJI.fullmatch(bare)
            or not _is_judged(word)
            or _is_joined(words, index)
        ):
            continue
        form = Occurrence(form=word.surface, start=word.start, end=word.end)
        found[f"末尾:{word.normal}:{bare}"].append((word.surface, form))
    for key, places in found.items():
        if len({form for form, _ in places}) > 1:
            yield from ((key, occurrence) for _, occurrence in places)


def _is_joined(words: list[Word], index: int) -> bool:
    after = words[index + 1] if index + 1 < len(words) else None
    return after is not None and after.start == words[index].end and after.word_class in ("名詞", "接尾辞", "動詞")


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
    if lemma == f"{word.normal[:-1]}れる" and word.normal.endswith("る"):
        return word.normal  # 送れる is 送る
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
    if len(word.surface) == 1 and not KANJI.search(word.surface):
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
