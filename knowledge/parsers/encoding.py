"""Decode text files: Unicode with or without a byte order mark, and the Japanese legacy encodings.

Only strict decoders are tried. Where more than one accepts the bytes, the reading that looks most like Japanese
prose wins: a wrong decoder yields rare kanji and rows of half-width katakana.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

from knowledge.parsers.errors import ParseError, parse_error

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LEGACY = ("cp932", "euc_jp", "euc_jisx0213")
_ISO_2022_JP = ("iso2022_jp", "iso2022_jp_2", "iso2022_jp_ext")
_ISO_2022_ESCAPE = re.compile(rb"\x1b\$[@B]|\x1b\$\(D|\x1b\([JI]")
_ISO_2022_SWITCH = re.compile(rb"(\x1b\$[@B]|\x1b\([BJI])")
_PAGE_BREAK = re.compile(r"\n?\f\n?")
_KANA = re.compile(r"[\u3041-\u30fe\uff66-\uff9d]")
_KANJI = re.compile(r"[\u3400-\u9fff]")
_SAMPLE_CHARACTERS = 20_000
_MIN_PLAUSIBILITY = 0.55
# Japanese text without any kana is names and codes in common kanji; other languages' text, misread, is not.
_MIN_PLAUSIBILITY_WITHOUT_KANA = 0.8
_MIN_KANJI_TO_TELL = 8
_MAX_CONTROL_SHARE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedText:
    """Text with newlines as ``\\n`` and no byte order mark, and the name of the encoding it was read in."""

    text: str
    encoding: str


def decode_text(data: bytes, *, declared: str | None = None) -> DecodedText:
    """Decode a text file. ``declared`` is an encoding the file itself names and is tried first.

    :raises ParseError: ``empty_file`` without any visible character, ``unknown_encoding`` for anything that is not
        plausible text.
    """
    if not data.strip():
        raise parse_error("empty_file")
    decoded = _by_mark(data) or _by_declaration(data, declared) or _by_trial(data)
    text = decoded.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _PAGE_BREAK.sub("\n\n", text)
    if not text.strip():
        raise parse_error("empty_file")
    if "\x00" in text or _control_share(text) > _MAX_CONTROL_SHARE:
        raise parse_error("unknown_encoding")
    return DecodedText(text=text, encoding=decoded.encoding)


def readable_text(data: bytes, declared: str | None) -> str:
    """Decode a short text, such as a header; what has no readable encoding shows the replacement character."""
    if not data.strip():
        return " " if data else ""
    try:
        return decode_text(data, declared=declared).text
    except ParseError:
        return data.decode("utf-8", "replace")


def decoding_error(data: bytes) -> ParseError | None:
    """Return why the bytes are no plausible text, or None when they are."""
    try:
        decode_text(data)
    except ParseError as error:
        return error
    return None


def _by_mark(data: bytes) -> DecodedText | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], encoding)
            if text is None:
                raise parse_error("unknown_encoding")
            return DecodedText(text=text, encoding=encoding)
    return None


def _by_declaration(data: bytes, declared: str | None) -> DecodedText | None:
    if declared is None:
        return None
    try:
        encoding = codecs.lookup(declared).name
    except LookupError:
        return None
    # Files that call themselves Shift_JIS come from Windows and use its vendor characters.
    encoding = "cp932" if encoding == "shift_jis" else encoding
    text = _strict(data, encoding)
    return None if text is None else DecodedText(text=text, encoding=encoding)


def _by_trial(data: bytes) -> DecodedText:
    if b"\x00" in data:
        return _best(data, ("utf-16-le", "utf-16-be"))
    if _ISO_2022_ESCAPE.search(data):
        for encoding in _ISO_2022_JP:
            text = _strict(data, encoding)
            if text is not None:
                return DecodedText(text=text, encoding=encoding)
        if (text := _windows_iso_2022_jp(data)) is not None:
            return DecodedText(text=text, encoding="iso2022_jp")
    text = _strict(data, "utf-8")
    if text is not None:
        return DecodedText(text=text, encoding="utf-8")
    return _best(data, _LEGACY)


def _windows_iso_2022_jp(data: bytes) -> str | None:
    """Decode ISO-2022-JP with the characters of Windows' code page (①, ㈱), which Python's codecs refuse."""
    found = bytearray()
    mode = b"(B"
    for index, piece in enumerate(_ISO_2022_SWITCH.split(data)):
        if index % 2:
            mode = piece[1:]
        elif mode in (b"$@", b"$B"):
            breaks = piece.rstrip(b"\r\n")  # a line that was left open ends all the same
            if len(breaks) % 2 or not all(0x21 <= code <= 0x7E for code in breaks):
                return None
            for row, cell in zip(breaks[::2], breaks[1::2], strict=True):
                found += _as_shift_jis(row, cell)
            found += piece[len(breaks) :]
        else:
            found += bytes(code | 0x80 for code in piece) if mode == b"(I" else piece
    return _strict(bytes(found), "cp932")


def _as_shift_jis(row: int, cell: int) -> bytes:
    lead = ((row + 1) >> 1) + (0x70 if row < 0x5F else 0xB0)
    trail = cell + (0x1F if cell < 0x60 else 0x20) if row % 2 else cell + 0x7E
    return bytes((lead, trail))


def _best(data: bytes, encodings: tuple[str, ...]) -> DecodedText:
    readings = [(encoding, _strict(data, encoding)) for encoding in encodings]
    scored = [
        (score, -order, encoding, text)
        for order, (encoding, text) in enumerate(readings)
        if text and (score := plausibility(text[:_SAMPLE_CHARACTERS])) >= _least(text[:_SAMPLE_CHARACTERS])
    ]
    if not scored:
        raise parse_error("unknown_encoding")
    _, _, encoding, text = max(scored)
    return DecodedText(text=text, encoding=encoding)


def _least(text: str) -> float:
    if _KANA.search(text) is None and len(_KANJI.findall(text)) >= _MIN_KANJI_TO_TELL:
        return _MIN_PLAUSIBILITY_WITHOUT_KANA
    return _MIN_PLAUSIBILITY


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def plausibility(text: str) -> float:
    """Rate from 0 to 1 how much a text looks like Japanese or ASCII writing.

    Kana and ASCII count fully, kanji that JIS X 0208 level 1 knows nearly so, half-width katakana less and other kanji
    a little, anything else nothing.
    """
    visible = [char for char in text if not char.isspace()]
    if not visible:
        return 0.0
    return sum(map(_weight, visible)) / len(visible)


def _weight(char: str) -> float:
    code = ord(char)
    if 0x21 <= code <= 0x7E or 0x3001 <= code <= 0x30FF or 0xFF01 <= code <= 0xFF5E:
        return 1.0
    if 0x4E00 <= code <= 0x9FFF:
        return 0.9 if _is_common_kanji(char) else 0.3
    if 0xFF66 <= code <= 0xFF9F:
        return 0.6
    if 0xFF61 <= code <= 0xFF65:
        return 0.4
    return 0.5 if unicodedata.category(char)[0] in "SNP" else 0.0


def _is_common_kanji(char: str) -> bool:
    """Return whether the kanji is in level 1 of JIS X 0208 (rows 16 to 47 = EUC lead bytes 0xB0 to 0xCF)."""
    encoded = char.encode("euc_jp", errors="ignore")
    return len(encoded) == 2 and 0xB0 <= encoded[0] <= 0xCF


def _control_share(text: str) -> float:
    sample = text[:_SAMPLE_CHARACTERS]
    controls = sum(1 for char in sample if (char < " " and char not in "\n\t\f\x1b") or "\x7f" <= char < "\xa0")
    return controls / max(len(sample), 1)
