"""Take personal data out of a text before it leaves the hub, and put it back into what comes from outside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

_WIDE = str.maketrans("０１２３４５６７８９－＠．", "0123456789-@.")
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
            r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}+[@＠](?:[A-Za-z0-9-]{1,63}[.．]){1,8}[A-Za-z]{2,24}(?![A-Za-z])"
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
            rf"(?:口座番号|普通(?:預金)?|当座(?:預金)?|貯蓄預金|account\s*(?:no\.?|number))[^0-9０-９\n]{{0,10}}"
            rf"(?P<value>{_D}{{6,8}}){_NOT_GOING_ON}",
            re.IGNORECASE,
        ),
    ),
    _Kind(
        name="PHONE",
        # Source: 総務省 電気通信番号計画: 0 and nine digits, ten for 050, 060, 070, 080, 090; written in three groups.
        pattern=re.compile(
            rf"{_NOT_INSIDE}(?:\+81[- ]?|[0０])(?:[1-9１-９]{_D}{{0,3}})(?:{_DASH}|[(（ ])"
            rf"{_D}{{1,4}}(?:{_DASH}|[)） ]){_D}{{3,4}}{_NOT_GOING_ON}"
            rf"|{_NOT_INSIDE}[0０][5-9５-９][0０]{_D}{{8}}{_NOT_GOING_ON}"
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


@dataclass(slots=True)
class Masking:
    """Masks texts that belong together: the same value gets the same name in all of them."""

    _names: dict[str, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    @property
    def counts(self) -> dict[str, int]:
        """How many different values of each kind were masked; says nothing of the values."""
        return dict(self._counts)

    def mask(self, text: str) -> str:
        """Put names such as ``[EMAIL-1]`` in place of e-mail addresses, telephone, card, account and individual
        numbers (マイナンバー) and postal addresses.

        >>> Masking().mask("担当 yamada@example.jp、03-1234-5678 まで")
        '担当 [EMAIL-1]、[PHONE-1] まで'
        """
        for kind in _KINDS:
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


def split_before_name(text: str) -> tuple[str, str]:
    """Cut off the end of a text where a name such as ``[EMAIL-1]`` may have begun and not ended.

    >>> split_before_name("返信は [EMA")
    ('返信は ', '[EMA')
    """
    begun = re.search(r"\[[A-Z_]{0,12}(?:-\d{0,6})?\Z", text)
    return (text, "") if begun is None else (text[: begun.start()], text[begun.start() :])


def mask(text: str) -> str:
    """Mask one text for good, for instance a line of a log."""
    return Masking().mask(text)
