"""What a statement is about: the names of things and their attributes as one, whatever words were used for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from knowledge.text.folding import fold_compact
from review.rules.base import shipped

EXAMPLE = re.compile(r"例えば|たとえば|例:|例）|\(例|仮に")
# 重大な不具合 and 軽微な不具合 are two things; 必要な件数 is a number like any other.
OF_A_KIND = (
    r"(?:(?<![一-龯々])(?!必要な|十分な|適切な|適正な|可能な|確実な|円滑な|妥当な|新たな|様々な|主な)"
    r"[一-龯]{1,4}[きさ]?な(?=[一-龯ァ-ヴA-Za-z])|(?<![一-龯々])[重軽高低強弱長短新古遅速]い(?=[一-龯ァ-ヴA-Za-z]))?+"
)
_MARKS = re.compile(r"[*_`「」『』\"']")
BRACKETS = re.compile(r"[(（\[【][^()（）\[\]【】]*[)）\]】]")
_JAPANESE = re.compile(r"[一-龯ァ-ヴ]{2,}")
_UNIT_REMARK = re.compile(r"税込|単位|目安|予定|必須|任意|以下|以上|以内|略|※")
_OWN_CONDITION = re.compile(r"[0-9a-z一二三四五六甲乙元]|(?:度|リスク|レベル|ランク|クラス)[がはの:]?「?[最高中低重軽]")
_MEASURE = re.compile(r"(?:率|数|量|額|費|時間|期間|期限|サイズ|容量|頻度|間隔)[はが:： ]*$")
# What says when and not what: 送信時.
_WHEN = re.compile(r"(?<=[一-龯])(?<![日同])時$")
_LONGEST = 60
LONGEST_NAMING = 200
"""So many characters of a heading or of a head of a table are read for each thing said under it."""
_ROUNDS = 4


def is_measure(before: str) -> bool:
    """Tell whether what stands before a value names a quantity, which anything may have: 合格率は, 保存期間.

    >>> is_measure("合格率は"), is_measure("開発担当")
    (True, False)
    """
    return _MEASURE.search(before) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What a statement is about: the thing (``core``, '' for the document's subject) and its attribute's ``code``."""

    core: str
    code: str = ""
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _Class:
    code: str
    dimension: str
    alone: bool
    is_default: bool
    name: re.Pattern[str]
    verb: re.Pattern[str] | None


@lru_cache(maxsize=1)
def _classes() -> tuple[_Class, ...]:
    return tuple(
        _Class(
            each["code"],
            each["dimension"],
            each.get("alone", False),
            each.get("default", False),
            re.compile(each["name"]),
            re.compile(each["verb"]) if each["verb"] else None,
        )
        for each in shipped("facts")["classes"]
    )


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    facts = shipped("facts")
    words = sorted(facts["words"], key=len, reverse=True)
    return {
        "joints": re.compile(facts["joints"]),
        "general": re.compile(rf"(?:{facts['general']})(?:{facts['joints']})"),
        "only_general": re.compile(rf"(?:{facts['general']})"),
        "ends": re.compile(facts["ends"]),
        "starts": re.compile(facts["starts"]),
        "words": re.compile("|".join(re.escape(fold_compact(word)) for word in words)),
    }


@lru_cache(maxsize=1)
def _words() -> dict[str, str]:
    return {fold_compact(word): fold_compact(same) for word, same in shipped("facts")["words"].items()}


@lru_cache(maxsize=4096)
def folded_name(written: str) -> str:
    """Return a name folded, without brackets, general subjects, joints and words of degree; synonyms as one.

    >>> folded_name("本システムの**操作ログ**の保管期間（年）"), folded_name("最大同時接続ユーザー数")
    ('操作ログ保存期間', '同時接続利用者数')
    """
    if len(written) > _LONGEST:
        return ""
    patterns = _patterns()
    plain = fold_compact(BRACKETS.sub("", _MARKS.sub("", written)))
    while found := patterns["general"].match(plain):
        plain = plain[found.end() :]
    if patterns["only_general"].fullmatch(plain):
        return ""
    plain = patterns["joints"].sub("", plain)
    plain = patterns["words"].sub(lambda word: _words()[word[0]], plain)
    for _ in range(_ROUNDS):
        shorter = patterns["starts"].sub("", patterns["ends"].sub("", plain))
        if shorter == plain or not shorter:
            break
        plain = shorter
    return plain


def quantity_name(written: str, behind: str, dimension: str) -> Name:
    """Return what a number of a dimension is about, by the name before it and the words behind it.

    >>> quantity_name("操作ログの保管期間", "", "time"), quantity_name("操作ログ", "保存する。", "time")
    (Name(core='操作ログ', code='retention', alone=False), Name(core='操作ログ', code='retention', alone=False))
    """
    folded = folded_name(written)
    for each in _classes():
        if each.dimension in (dimension, "*") and (found := each.name.search(folded)):
            return Name(core=_trimmed(folded[: found.start()]), code=each.code, alone=each.alone)
    for each in _classes():
        if each.dimension == dimension and each.verb and each.verb.search(behind):
            return Name(core=_trimmed(folded), code=each.code, alone=each.alone)
    by_default = next((each.code for each in _classes() if each.is_default and each.dimension == dimension), "")
    return Name(core=_trimmed(folded), code=by_default)


def _trimmed(core: str) -> str:
    return _patterns()["ends"].sub("", core)


def is_specific(core: str) -> bool:
    """Return whether a name says which thing is meant, and not only of what sort it is.

    >>> is_specific("操作ログ"), is_specific("データ"), is_specific("3"), is_specific("送信時")
    (True, False, False, False)
    """
    names = len(core) > 1 and core not in _of_anything() and bool(re.search(r"[^\W\d_]{2}", core))
    return names and not _WHEN.search(core)


@lru_cache(maxsize=1)
def _of_anything() -> frozenset[str]:
    generic = shipped("quantities")["generic"]["labels"]
    return frozenset(fold_compact(word) for word in (*shipped("facts")["subjects_of_anything"], *generic))


@lru_cache(maxsize=1)
def _conditions() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = shipped("facts")["conditions"]
    groups = "|".join(f"(?P<c{at}>{pattern})" for at, pattern in enumerate(words["words"]))
    return re.compile(groups), re.compile(words["titles"])


def conditions_of(text: str, titles: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the conditions that a statement stands under: words of its text, of its headings, brackets in its names.

    >>> sorted(conditions_of("本番環境では平日9時に始める", ("6. 次期システム",)))
    ['c0', 'c7', 'title:次期']
    """
    words, in_titles = _conditions()
    found = set()
    for match in words.finditer(fold_compact(text)):
        group = match.lastgroup or ""
        found.add(f"{group}:{match[0]}" if _OWN_CONDITION.search(match[0]) else group)
    for title in titles:
        found |= {f"title:{match[0]}" for match in in_titles.finditer(fold_compact(title[:LONGEST_NAMING]))}
    for name in names:
        for bracket in BRACKETS.findall(name[:LONGEST_NAMING]):
            if _JAPANESE.search(bracket) and not _UNIT_REMARK.search(bracket):
                found.add(f"of:{fold_compact(bracket)[1:-1]}")
    return frozenset(found)


def role_of(written: str) -> tuple[str, str] | None:
    """Return the thing and the role that a name gives: データ移行の実施者 is (データ移行, 担当)."""
    return _split(written, "roles")


def choice_of(written: str) -> tuple[str, str] | None:
    """Return the thing and the attribute of one choice that a name gives: 連携ファイルの文字コード."""
    return _split(written, "choices")


def level_of(written: str) -> tuple[str, str] | None:
    """Return the thing and the scale that a name gives: システムの重要度."""
    return _split(written, "levels")


def _split(written: str, table: str) -> tuple[str, str] | None:
    folded = folded_name(written)
    found = _ending(table).search(folded)
    if not found:
        return None
    same = shipped("facts")[table].get("same", {})
    return _trimmed(folded[: found.start()]), str(same.get(found[0], found[0]))


@lru_cache(maxsize=8)
def _ending(table: str) -> re.Pattern[str]:
    return re.compile(shipped("facts")[table]["names"])


def event_of(written: str) -> tuple[str, str]:
    """Return the event that a name of a date gives, and whether its start or its end is meant.

    >>> event_of("データ移行の完了予定日"), event_of("本番稼働開始日"), event_of("本番稼働日")
    (('データ移行', 'end'), ('本番稼働', ''), ('本番稼働', ''))
    """
    dates = shipped("facts")["dates"]
    folded, phase = folded_name(written), ""
    for _ in range(_ROUNDS):
        before = folded
        for name in ("start", "end"):
            if found := re.search(dates[name], folded):
                folded, phase = folded[: found.start()], name
        folded = re.sub(dates["drop"], "", folded)
        if folded == before:
            break
    if (phase == "start" and re.search(dates["begins_anyway"], folded)) or (
        phase == "end" and re.search(dates["ends_anyway"], folded)
    ):
        phase = ""
    return folded, phase
