"""Passwords that a guesser tries first: made of well-known words, of runs on the keyboard, of their owner's name.

Beside Django's own checks (length, similarity to the owner, its list of 20,000). As NIST SP 800-63B-4 asks, no kind of
character is demanded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

LEAST_DISTINCT = 5
LEAST_LEFT = 5
LEAST_RUN = 3

# What people put into passwords here and everywhere; compared without regard to case, width and 0 for o, @ for a.
KNOWN_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "secret", "welcome", "letmein", "login", "logon", "changeme"),
    *("default", "administrator", "admin", "root", "superuser", "guest", "master", "system", "server", "hello"),
    *("iloveyou", "sunshine", "princess", "dragon", "monkey", "football", "baseball", "superman", "batman", "shadow"),
    *("michael", "charlie", "whatever", "trustno", "starwars", "computer", "internet", "samsung", "google", "test"),
    *("spring", "summer", "autumn", "winter", "january", "february", "august", "september", "october", "november"),
    *("december", "monday", "friday", "sunday", "tokyo", "osaka", "kyoto", "nagoya", "sapporo", "fukuoka", "yokohama"),
    *("japan", "nippon", "nihon", "sakura", "arigato", "arigatou", "konnichiwa", "sayonara", "ohayou", "aishiteru"),
    *("daisuki", "doraemon", "pikachu", "pokemon", "naruto", "totoro", "anpanman", "hanshin", "tigers", "giants"),
    *("tanaka", "suzuki", "yamada", "takahashi", "watanabe", "yamamoto", "nakamura", "kobayashi", "takeshi", "hiroshi"),
    *("kenji", "yuki", "himitsu", "pasuwado", "pasuwaado", "kaisha", "showa", "heisei", "reiwa", "hub"),
    *(
        "パスワード",
        "ぱすわーど",
        "ひみつ",
        "秘密",
        "暗証番号",
        "管理者",
        "東京",
        "大阪",
        "日本",
        "さくら",
        "桜",
        "令和",
    ),
    *("平成", "昭和", "ありがとう", "こんにちは", "大好き", "だいすき", "ドラえもん", "ピカチュウ", "ポケモン"),
)
# The rows and columns of the keyboard, the alphabet, the syllables: what a run goes along.
ROWS = (
    *("01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "1qaz2wsx3edc4rfv5tgb6yhn7ujm", "!@#$%^&*()", "!\"#$%&'()"),
    "abcdefghijklmnopqrstuvwxyz",
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん",
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
)
_LOOKALIKES = (str.maketrans("01345@$!", "oleasasi"), str.maketrans("01345@$!", "oieasasl"))
_TAKEN = "\0"
_FORWARDS = frozenset(row[at : at + 2] for row in ROWS for at in range(len(row) - 1))
_BACKWARDS = frozenset(pair[::-1] for pair in _FORWARDS)
_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.年]\d{1,2}[-/.月]\d{1,2})?|\d{1,2}:\d\d(?::\d\d)?")


class PredictablePasswordValidator:
    """Refuses passwords that have few different characters, or little beside what everybody tries."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """:raises ValidationError: the password can be predicted; ``code`` says why."""
        folded = _folded(password)
        if len(set(folded)) < LEAST_DISTINCT:
            raise ValidationError(
                _("This password has fewer than %(least)d different characters."),
                code="password_few_characters",
                params={"least": LEAST_DISTINCT},
            )
        if _left_over(folded, _names_of(user)) < LEAST_LEFT:
            raise ValidationError(
                _(
                    "Without names, well-known words, years and runs such as 1234 or qwerty, fewer than %(least)d "
                    "characters of this password are left."
                ),
                code="password_predictable",
                params={"least": LEAST_LEFT},
            )

    def get_help_text(self) -> str:
        """Say what is refused, for the pages where a password is set."""
        return _(
            "Your password can't be made of your name, well-known words, years and runs such as 1234 or qwerty alone."
        )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _names_of(user: AbstractBaseUser | None) -> list[str]:
    """Give the words that name a person: user name, names and e-mail address, whole and in parts."""
    given = [str(getattr(user, field, "") or "") for field in ("username", "first_name", "last_name", "email")]
    words = {word for text in given for word in [_folded(text), *re.split(r"[\W_\d]+", _folded(text))]}
    return [word for word in words if len(word) >= (LEAST_RUN if word.isascii() else 2)]


def _left_over(folded: str, names: Collection[str]) -> int:
    """Count the characters that are in no name (read either way), known word, year, date, time of day or run."""
    words = sorted({*names, *(name[::-1] for name in names), *map(_folded, KNOWN_WORDS)}, key=len, reverse=True)
    left = list(folded)
    for read in (folded, *(folded.translate(table) for table in _LOOKALIKES)):  # all of one length
        for word in words:
            for found in re.finditer(re.escape(word), read):
                left[found.start() : found.end()] = _TAKEN * len(word)
    return len(_without_runs(_DATE.sub(_TAKEN, "".join(left))).replace(_TAKEN, ""))


def _without_runs(text: str) -> str:
    kept: list[str] = []
    start = 0
    while start < len(text):
        length = max(_run_along(text, start, pairs) for pairs in (_FORWARDS, _BACKWARDS, None))
        kept.append(_TAKEN if length >= LEAST_RUN else text[start])
        start += length if length >= LEAST_RUN else 1
    return "".join(kept)


def _run_along(text: str, start: int, pairs: frozenset[str] | None) -> int:
    """Give the number of characters from ``start`` on that go along a row, or repeat where there are no pairs."""
    end = start + 1
    while end < len(text) and (text[end - 1 : end + 1] in pairs if pairs else text[end - 1] == text[end]):
        end += 1
    return end - start
