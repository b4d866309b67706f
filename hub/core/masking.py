"""Take personal data out of a text that leaves the hub (and put it back into what comes), is logged, or is stored.

One list of kinds for all three. Logs have one kind more: what stands after ``password=`` and its like, which is what
requirements are about in a document.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

_WIDE = str.maketrans("０１２３４５６７８９－＠．", "0123456789-@.")
_L = "A-Za-zＡ-Ｚａ-ｚ"
_LD = f"{_L}0-9０-９"
_SEPARATOR = "[:：=＝]"
_D = "[0-9０-９]"
_DASH = r"[-－‐–ー−]"
_NOT_INSIDE = rf"(?<![0-9０-９A-Za-z])(?<!{_D}[.．])(?<!{_D}{_DASH})"
_NOT_GOING_ON = rf"(?![0-9０-９A-Za-z])(?![.．]{_D})(?!{_DASH}{_D})"

Check: TypeAlias = Callable[[str], bool]


def _digits(text: str) -> list[int]:
    return [int(char) for char in text.translate(_WIDE) if char.isascii() and char.isdigit()]


def is_card_number(text: str) -> bool:
    """Tell whether the digits of a text are a payment card's: 13 to 19 with a Luhn check digit.

    Source: ISO/IEC 7812-1, annex B.

    >>> is_card_number("4111 1111 1111 1111"), is_card_number("4111 1111 1111 1112")
    (True, False)
    """
    digits = _digits(text)
    doubled = [sum(divmod(digit * 2, 10)) for digit in digits[-2::-2]]
    # Of networks that issue cards to people; moments in milliseconds begin with 1.
    if not (digits[:1] and (3 <= digits[0] <= 6 or 2221 <= int("".join(map(str, digits[:4]))) <= 2720)):
        return False
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_my_number(text: str) -> bool:
    """Tell whether the digits of a text are an individual number (マイナンバー): 12 with its check digit.

    Source: 平成26年総務省令第85号 第5条.

    >>> is_my_number("1234 5678 9018"), is_my_number("1234 5678 9017")
    (True, False)
    """
    digits = _digits(text)
    if len(digits) != 12 or len(set(digits)) == 1:
        return False
    weighed = sum(
        digit * (place + 1 if place <= 6 else place - 5) for place, digit in enumerate(reversed(digits[:-1]), 1)
    )
    rest = weighed % 11
    return digits[-1] == (0 if rest <= 1 else 11 - rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of personal data; where the pattern has a group ``value``, only that is masked."""

    name: str
    pattern: re.Pattern[str]
    check: Check | None = None


# In this order: what an earlier kind took, a later one does not see.
_KINDS = (
    _Kind(
        name="EMAIL",
        # lengths as in RFC 5321 section 4.5.3.1; possessive, so that a long run of letters takes linear time
        pattern=re.compile(
            rf"(?<![{_LD}._%+．＿％＋－-])[{_LD}._%+．＿％＋－-]{{1,64}}+[@＠]"
            rf"(?:[{_LD}－-]{{1,63}}[.．]){{1,8}}[{_L}]{{2,24}}(?![{_L}])"
        ),
    ),
    _Kind(
        name="CARD",
        pattern=re.compile(rf"{_NOT_INSIDE}{_D}(?:[ 　]?{_DASH}?{_D}){{12,18}}{_NOT_GOING_ON}"),
        check=is_card_number,
    ),
    _Kind(
        name="MY_NUMBER",
        pattern=re.compile(
            rf"{_NOT_INSIDE}{_D}{{4}}(?:[ 　]|{_DASH})?{_D}{{4}}(?:[ 　]|{_DASH})?{_D}{{4}}{_NOT_GOING_ON}"
        ),
        check=is_my_number,
    ),
    _Kind(
        name="BANK_ACCOUNT",
        pattern=re.compile(
            rf"(?:口座番号|普通(?:預金)?|当座(?:預金)?|貯蓄預金|account\s{{0,3}}(?:no\.?|number))[^0-9０-９\n]{{0,10}}"
            rf"(?P<value>{_D}{{6,8}}){_NOT_GOING_ON}",
            re.IGNORECASE,
        ),
    ),
    _Kind(
        name="PHONE",
        # Source: 総務省 電気通信番号計画: 0 and nine digits, ten for 050, 060, 070, 080, 090; written in three groups.
        pattern=re.compile(
            rf"{_NOT_INSIDE}(?:[+＋](?:81|８１)(?:[ 　]|{_DASH})?|[(（]?[0０])[1-9１-９]{_D}{{0,3}}"
            rf"(?:{_DASH}|[(（)） 　])"
            rf"{_D}{{1,4}}(?:{_DASH}|[)） 　]){_D}{{3,4}}{_NOT_GOING_ON}"
            rf"|{_NOT_INSIDE}[0０][5-9５-９][0０]{_D}{{8}}{_NOT_GOING_ON}"
            rf"|(?:(?<=電話[：: 　])|(?<=番号[：: 　])|(?<=TEL[：: 　])|(?<=ＴＥＬ[：: 　])|(?<=FAX[：: 　]))"
            rf"[0０]{_D}{{9}}{_NOT_GOING_ON}"
        ),
        check=lambda text: 10 <= len(_digits(text)) <= 13,
    ),
    _Kind(
        name="ADDRESS",
        pattern=re.compile(
            rf"〒\s?{_D}{{3}}{_DASH}?{_D}{{4}}"
            r"|(?:東京都|北海道|(?:京都|大阪)府|[一-鿿]{2,3}県)[^\s、。,，|「」]{1,24}?[市区町村]"
            rf"[^\s、。,，|「」]{{0,24}}?{_D}{{1,4}}(?:(?:丁目|番地|番|号|の|{_DASH}){_D}{{0,4}}){{1,4}}"
        ),
    ),
)


# What opens a door, by its own form: nothing in a document looks like it by chance.
_SECRETS = (
    _Kind(
        name="SECRET",
        pattern=re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s]{1,8000}+"
            r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
        ),
    ),
    _Kind(name="SECRET", pattern=re.compile(r"(?<=://)[^\s/:@]{0,64}+:(?P<value>[^\s/@]{1,200}+)(?=@)")),
    _Kind(
        name="SECRET",
        pattern=re.compile(r"\b(?:Bearer|Basic|Token)\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{12,4096}+)", re.IGNORECASE),
        check=lambda text: any(char.isdigit() for char in text),
    ),
    _Kind(name="SECRET", pattern=re.compile(r"(?<![\w-])eyJ[\w-]{8,4096}+\.[\w-]{8,4096}+(?:\.[\w-]{0,4096}+)?")),
    _Kind(
        name="SECRET",
        pattern=re.compile(
            r"(?<![\w-])(?:(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])|(?:hub_|sk-|ghp_|xox[bp]-)[\w-]{20,512}+)"
        ),
    ),
)
_NAMED_SECRETS = (
    _Kind(
        name="SECRET",
        pattern=re.compile(
            r"(?:pass(?:word|wd|phrase)|pwd|secret|token|(?:api|access|private)[_-]?key|credential|sessionid|"
            r"パスワード|暗証番号)s?[\"']?[ 　]{0,3}[:：=＝][ 　]{0,3}[\"'「]?"
            r"(?P<value>[^\s\"',;&、。「」)）}\]]{1,200})",
            re.IGNORECASE,
        ),
        check=lambda text: text not in {"None", "null", "True", "False", "true", "false", "***"} and text[:1] != "[",
    ),
)
PERSONAL_KINDS = tuple(dict.fromkeys(kind.name for kind in _KINDS))
"""The kinds by name: EMAIL, CARD, MY_NUMBER, BANK_ACCOUNT, PHONE, ADDRESS."""
MOST_FIELDS = 200
LONGEST_FIELD = 40


_IN_FIELD = r"[^\s、。,;；|｜「」()（）<>\[\]\"']"


def _line_kind(names: Collection[str]) -> _Kind:
    """Make the kind of what stands after one of these names and a colon, or after blanks where the name begins a line.

    Unlike `_field_kind` it leaves cells alone, whose columns and rows `knowledge.parsers.anonymising` knows.
    """
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    blanks = r"[ 　]{0,3}(?:\*\*)?"
    return _Kind(
        name="FIELD",
        pattern=re.compile(
            rf"(?:(?<!\w)(?:{words}){blanks}{_SEPARATOR}(?:\*\*)?|^[ 　]{{0,20}}(?:{words})(?=[ 　]))[ 　]{{0,20}}"
            rf"(?P<value>{_IN_FIELD}(?:[ 　]?{_IN_FIELD}){{0,59}})",
            re.MULTILINE,
        ),
    )


def _field_kind(names: Collection[str]) -> _Kind:
    """Make the kind of what stands after one of these names and a colon, or in the next cell of a table's row."""
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return _Kind(
        name="FIELD",
        pattern=re.compile(
            rf"(?<!\w)(?:{words})[ 　]{{0,3}}(?:\*\*)?(?:{_SEPARATOR}|[ 　]{{0,20}}[|｜\t])(?:\*\*)?[ 　]{{0,20}}"
            rf"(?P<value>{_IN_FIELD}(?:[ 　]?{_IN_FIELD}){{0,59}})"
        ),
    )


_LOG_FIELDS = _field_kind(("氏名", "フリガナ", "生年月日", "住所"))


class _Fields:
    """The names of fields whose values are masked, of this process: the settings', and those that curators chose."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self.kinds: tuple[_Kind, ...] = ()

    def set(self, names: Collection[str]) -> None:
        wanted = frozenset(name.strip() for name in names if name.strip())
        if wanted != self.names:
            self.kinds = (_field_kind(wanted),) if wanted else ()
            self.names = wanted


_fields = _Fields()


def set_masked_fields(names: Collection[str]) -> None:
    """Have the values of fields of these names masked in this process from now on, in logs and before model calls."""
    _fields.set(names)


def masked_fields() -> frozenset[str]:
    """Give the names that were set last."""
    return _fields.names


@dataclass(slots=True)
class Masking:
    """Masks texts that belong together: the same value gets the same name in all of them."""

    _names: dict[str, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    _kinds: tuple[_Kind, ...] = field(default_factory=lambda: (*_SECRETS, *_KINDS, *_fields.kinds))

    @property
    def counts(self) -> dict[str, int]:
        """How many different values of each kind were masked; says nothing of the values."""
        return dict(self._counts)

    def mask(self, text: str) -> str:
        """Put names such as ``[EMAIL-1]`` in place of e-mail addresses, telephone, card, account and individual
        numbers (マイナンバー), postal addresses, keys and passwords in URLs, and values of fields that were chosen.

        >>> Masking().mask("担当 yamada@example.jp、03-1234-5678 まで")
        '担当 [EMAIL-1]、[PHONE-1] まで'
        """
        for kind in self._kinds:
            text = kind.pattern.sub(lambda match, kind=kind: self._replace(match, kind), text)  # type: ignore[misc]
        return text

    def restore(self, text: str) -> str:
        """Put the values back in place of their names; names that this object did not give stay."""
        values = {name: value for value, name in self._names.items()}
        return re.sub(r"\[[A-Z_]+-\d+\]", lambda match: values.get(match[0], match[0]), text)

    def _replace(self, match: re.Match[str], kind: _Kind) -> str:
        part = "value" if "value" in match.re.groupindex else 0
        value = match[part]
        if kind.check is not None and not kind.check(value):
            return match[0]
        start, end = match.start(part) - match.start(), match.end(part) - match.start()
        return match[0][:start] + self._name(value, kind.name) + match[0][end:]

    def _name(self, value: str, kind: str) -> str:
        if value not in self._names:
            self._counts[kind] += 1
            self._names[value] = f"[{kind}-{self._counts[kind]}]"
        return self._names[value]

    def found(self, text: str) -> list[tuple[int, int, str]]:
        """Give where something is to be masked: begin, end and kind, in order, none inside another."""
        spans: list[tuple[int, int, str]] = []
        left = text
        for kind in self._kinds:
            part = "value" if "value" in kind.pattern.groupindex else 0
            matches = [one for one in kind.pattern.finditer(left) if kind.check is None or kind.check(one[part])]
            pieces, at = [], 0
            for match in matches:
                start, end = match.span(part)
                spans.append((start, end, kind.name))
                pieces += [left[at:start], "[" * (end - start)]
                at = end
            left = "".join([*pieces, left[at:]]) if matches else left
        return _apart(spans)

    def mask_parts(self, parts: Sequence[str]) -> list[str]:
        """Mask a text that is cut into parts, such as the runs of a paragraph: a value's name stands in the first
        part that it was in.
        """
        spans = self.found("".join(parts))
        if not spans:
            return list(parts)
        whole, masked, start = "".join(parts), [], 0
        for part in parts:
            masked.append(self._mask_part(whole, start, start + len(part), spans))
            start += len(part)
        return masked

    def _mask_part(self, whole: str, start: int, end: int, spans: Sequence[tuple[int, int, str]]) -> str:
        pieces, at = [], start
        for first, last, kind in spans[bisect_left(spans, start, key=itemgetter(1)) :]:
            if first >= end:
                break
            if last > start:
                pieces.append(whole[at : max(first, start)])
                if first >= start:
                    pieces.append(self.name(whole[first:last], kind))
                at = min(last, end)
        return "".join([*pieces, whole[at:end]])

    def name(self, value: str, kind: str) -> str:
        """Give the name that a value gets in place of itself, and count that it was replaced."""
        self.replaced[kind] += 1
        return self._name(value, kind)


def _apart(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Join spans that overlap: a later kind goes around an earlier one, as an address around a telephone number."""
    joined: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), joined[-1][2])
        else:
            joined.append((start, end, kind))
    return joined


def split_before_name(text: str) -> tuple[str, str]:
    """Cut off the end of a text where a name such as ``[EMAIL-1]`` may have begun and not ended.

    >>> split_before_name("返信は [EMA")
    ('返信は ', '[EMA')
    """
    begun = re.search(r"\[[A-Z_]{0,12}(?:-\d{0,6})?\Z", text)
    return (text, "") if begun is None else (text[: begun.start()], text[begun.start() :])


def mask(text: str) -> str:
    """Mask one text for good, for instance a line of a log: passwords and personal fields by their names, too."""
    return Masking(_kinds=(*_SECRETS, *_NAMED_SECRETS, *_KINDS, _LOG_FIELDS, *_fields.kinds)).mask(text)


def chosen_masking(kinds: Collection[str], fields: Collection[str]) -> Masking:
    """Make a masking of these kinds (of PERSONAL_KINDS, and SECRET) and of what stands after these names, no others."""
    chosen = tuple(kind for kind in (*_SECRETS, *_KINDS) if kind.name in kinds)
    return Masking(_kinds=(*chosen, _line_kind(fields)) if fields else chosen)
