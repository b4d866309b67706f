"""What Word draws without writing a character: signs of symbol fonts, and fields of old forms."""

from __future__ import annotations

from knowledge.parsers.docx.names import qn
from knowledge.parsers.ooxml.package import Element

# The signs that forms and lists use, by the font's own code. Unicode has no names for most of the others.
_WINGDINGS = {
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "□",
    0x72: "□",
    0x75: "◆",
    0x76: "❖",
    0x77: "◆",
    0x9F: "•",
    0xA1: "○",
    0xA4: "◉",
    0xA7: "▪",
    0xA8: "□",
    0xAB: "★",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "→",
    0xEF: "⇦",
    0xF0: "⇨",
    0xF1: "⇧",
    0xF2: "⇩",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_WINGDINGS |= {0x81 + index: chr(ord("①") + index) for index in range(10)}
_WINGDINGS |= {0x8C + index: chr(ord("❶") + index) for index in range(10)}
_WINGDINGS_2 = {0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "□"}
_WINGDINGS_2 |= {0x6A + index: chr(ord("①") + index) for index in range(10)}
_SYMBOL = {0xB7: "•", 0xAE: "→", 0xAC: "←", 0xA3: "≤", 0xB3: "≥", 0xB4: "×", 0xB1: "±", 0xB9: "≠", 0xA5: "∞", 0x6D: "μ"}
_FONTS = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "symbol": _SYMBOL}
_PRIVATE = 0xF000


def symbol(element: Element) -> str:
    """Return the sign of a ``w:sym`` element; empty when it is not known."""
    try:
        code = int(element.get(qn("w:char"), ""), 16)
    except ValueError:
        return ""
    signs = _FONTS.get(element.get(qn("w:font"), "").lower())
    if signs is not None:
        return signs.get(code & 0xFF, "")
    return chr(code) if 0x20 <= code < _PRIVATE and not 0xD800 <= code <= 0xDFFF else ""


def form_field(element: Element) -> str:
    """Return what a field of an old form shows: the box of ``w:checkBox``, the choice of ``w:ddList``, else nothing.

    ``element`` is the ``w:fldChar`` that begins the field; the text of a text field follows it by itself.
    """
    box = element.find(f"{qn('w:ffData')}/{qn('w:checkBox')}")
    if box is not None:
        checked = box.find(qn("w:checked"))
        checked = box.find(qn("w:default")) if checked is None else checked
        return "☑" if checked is not None and checked.get(qn("w:val"), "1") in ("1", "true", "on") else "□"
    choices = element.find(f"{qn('w:ffData')}/{qn('w:ddList')}")
    if choices is None:
        return ""
    entries = [entry.get(qn("w:val"), "") for entry in choices.iterchildren(qn("w:listEntry"))]
    result = choices.find(qn("w:result"))
    index = result.get(qn("w:val"), "0") if result is not None else "0"
    return entries[int(index)] if index.isdecimal() and int(index) < len(entries) else ""
