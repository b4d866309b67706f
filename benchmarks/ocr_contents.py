"""Contents pages of vertical text to read with OCR: titles, leaders, numbers of pages, and notes in two narrow lines.

Each page is set in a way of its own: what leads to the numbers, how these are written (kanji numerals of full or of
less height, digits side by side or one below the other), what stands around them, how many tiers there are.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable

from knowledge.text.numerals import DIGITS

_LEADERS = ("…", "・", "‥", "…")
_AROUND = (("", ""), ("", ""), ("（", "）"), ("〔", "〕"))
_WIDE_DIGITS = {code: code + 0xFEE0 for code in range(0x30, 0x3A)}
_PLAIN = re.compile(r"[\u3040-\u30ff\u3005\u4e00-\u9fff、。「」・〜～―ー（）]+")

STYLE = """
.contents { writing-mode: vertical-rl; line-height: 1.9; text-spacing-trim: space-all }
.contents p { margin: 0; white-space: nowrap }
.contents .tier { height: 100%; overflow: hidden }
.contents i { display: inline-block; font-style: normal; font-size: .5em; line-height: 1; vertical-align: middle;
  margin: 0 .5em 0 -.5em }
.contents b { font-weight: normal; text-combine-upright: all }
.contents svg { display: inline-block; width: 1em; vertical-align: middle; margin: 0 .25em 0 -.25em;
  writing-mode: horizontal-tb }
"""


def contents(next_text: Callable[[], str], chance: random.Random, size: float) -> str:
    """Set one page 255 mm high in type of ``size`` points; titles and notes are parts of the texts."""
    tiers = chance.choice((1, 2, 2))
    height = int(255 / tiers / (size * 25.4 / 72)) - 2 * (tiers - 1)
    columns = int(174 / (size * 1.9 * 25.4 / 72))
    leader, number, around = chance.choice(_LEADERS), chance.choice((_kanji, _flat, _side_by_side, _below)), None
    around = chance.choice(_AROUND)
    page = chance.randint(1, 60)
    parts = []
    for _tier in range(tiers):
        entries = []
        for _column in range(columns):
            page += chance.randint(1, 19)
            entries.append(_entry(next_text, chance, height, leader, (around[0], *number(page), around[1])))
        gap = "" if tiers == 1 else "; margin-bottom: 9mm"
        parts.append(f'<div class="tier" style="height: {height}em{gap}">{"".join(entries)}</div>')
    return f'<div class="contents">{"".join(parts)}</div>' if tiers == 1 else _stacked(parts)


def _stacked(parts: list[str]) -> str:
    return "".join(f'<div class="contents">{part}</div>' for part in parts)


def _entry(
    next_text: Callable[[], str], chance: random.Random, height: int, leader: str, number: tuple[str, str, int, str]
) -> str:
    """One column: a title, for every third one with a note, an author for some, leaders, the number."""
    before, markup, taken, after = number
    left = height - taken - len(before) - len(after)
    title = _piece(next_text, chance.randint(5, max(6, left // 2)))
    shown, used = title, len(title)
    if chance.random() < 0.35 and left - used > 9:
        note = _piece(next_text, chance.randint(6, 12))
        half = (len(note) + 1) // 2
        shown += f"（<i>{note[:half]}<br>{note[half:]}</i>）"
        used += 2 + -(-half // 2)
        shown += "" if half % 2 == 0 else '<i style="height: 1em"></i>'
    author = "　" + _piece(next_text, chance.randint(3, 5)) if chance.random() < 0.4 and left - used > 9 else ""
    used += len(author)
    if left - used < 0:
        return f"<p>{html.escape(title[:height])}</p>"
    return f"<p>{shown}{leader * (left - used)}{author}{before}{markup}{after}</p>"


def _piece(next_text: Callable[[], str], length: int) -> str:
    """A text's first characters that vertical text has upright or turned, of about this length."""
    return "".join(_PLAIN.findall(next_text()))[:length].strip("、。・")


def _kanji(page: int) -> tuple[str, int]:
    text = "".join(DIGITS[int(digit)] for digit in str(page))
    return text, len(text)


def _flat(page: int) -> tuple[str, int]:
    """Kanji numerals half as high, and three of them in two places of the column."""
    text, count = _kanji(page)
    if count == 1:
        return text, 1
    drawn = (
        f'<text x="50" y="{88 + 100 * at}" text-anchor="middle" font-size="100">{numeral}</text>'
        for at, numeral in enumerate(text)
    )
    squeezed = f'<g transform="scale(1 0.5)">{"".join(drawn)}</g>'
    return f'<svg viewBox="0 0 100 {50 * count}" style="height: {count / 2}em">{squeezed}</svg>', (count + 1) // 2


def _side_by_side(page: int) -> tuple[str, int]:
    return f"<b>{page}</b>", 1


def _below(page: int) -> tuple[str, int]:
    return str(page).translate(_WIDE_DIGITS), len(str(page))
