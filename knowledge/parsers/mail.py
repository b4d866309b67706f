"""Mails (eml, msg): who wrote to whom, when and about what as a table, and the text; what is attached is named."""

from __future__ import annotations

import email
import re
from binascii import Error as BadBase64
from collections.abc import Iterator
from dataclasses import dataclass
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.utils import collapse_rfc2231_value, parsedate_to_datetime
from pathlib import Path, PurePosixPath

from knowledge.parsers.detect import OLE2_MAGIC
from knowledge.parsers.encoding import decode_text, readable_text
from knowledge.parsers.errors import corrupted, counted, parse_error
from knowledge.parsers.html.parser import read_html
from knowledge.parsers.limits import CellCount, ParseLimits
from knowledge.parsers.outlook import ELSEWHERE, RTF_ALONE, read_outlook
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.render import MarkdownBuilder, clean_text, render_table, single_line
from knowledge.parsers.text import text_blocks
from knowledge.types.documents import BlockKind, ParsedDocument
from knowledge.types.notices import Notice, notice_of

_HEADERS = {"From": "差出人", "To": "宛先", "Cc": "CC", "Subject": "件名"}
_DATE_TITLE = "日時"
_TABLE_HEAD = ("項目", "内容")
_PLAIN, _HTML = "text/plain", "text/html"
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"})
_SUFFIXES = {"message/rfc822": ".eml", _HTML: ".html", _PLAIN: ".txt", "application/pdf": ".pdf"}
_MOST_NAMED = 20
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_GAP = re.compile(r"(?<=\?=)\s+(?==\?)")

Part = Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a mail; ``name`` is what the sender called it, without folders."""

    name: str
    data: bytes


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read a mail. Nothing that it names is fetched.

    :raises ParseError: ``corrupted``, ``mail_sealed``, ``too_complex``, ``unknown_encoding`` or ``too_many_cells``.
    """
    data = path.read_bytes()
    message = read_mail(data)
    builder, pictures, cells = MarkdownBuilder(), PictureIntake(limits), CellCount(limits)
    said = [(title, value) for name, title in _HEADERS.items() if (value := _header(message, name))]
    said += [(_DATE_TITLE, _in_figures(value))] if (value := _header(message, "Date")) else []
    builder.add(BlockKind.TABLE, render_table([_TABLE_HEAD, *said]).text)
    for part in _bodies(message):
        _add_body(part, builder, pictures, cells)
    title = _header(message, "Subject") or None
    return builder.document(kind_of_mail(data), title=title, notices=(*_notices(message), *pictures.notices()))


def kind_of_mail(data: bytes) -> str:
    """Tell a message of Outlook (msg) from a mail as it was sent (eml)."""
    return "msg" if data.startswith(OLE2_MAGIC) else "eml"


def read_mail(data: bytes) -> Part:
    """Read a mail's parts. :raises ParseError: ``corrupted``, ``too_complex``, or ``mail_sealed``."""
    kind = kind_of_mail(data)
    try:
        message = read_outlook(data) if kind == "msg" else email.message_from_bytes(data)
        list(_leaves(message))
    except RecursionError as error:
        raise parse_error("too_complex") from error
    except (MessageError, ValueError) as error:
        raise corrupted(kind, type(error).__name__) from error
    if message.get_content_type() in _SEALED:
        raise parse_error("mail_sealed")
    return message


def attachments(message: Part) -> list[Attachment]:
    """The files that came with a mail, in its order; a mail that was attached is one, with what came with it."""
    found = []
    for number, part in enumerate(_attached(message), start=1):
        name = _file_name(part) or f"attachment-{number}{_SUFFIXES.get(part.get_content_type(), '')}"
        found.append(Attachment(name=name, data=_data(part)))
    return found


def _data(part: Part) -> bytes:
    if part.get_content_type() == "message/rfc822" and part.is_multipart():
        inner = part.get_payload(0)
        return inner.as_bytes() if isinstance(inner, Message) else b""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _header(message: Part, name: str) -> str:
    """A header as one line of text; bytes without a declared encoding are read as text files are."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return _decoded_words(str(raw))


def _in_figures(written: str) -> str:
    """The time of a mail as `2025-11-12 10:00:00 +0900`; as it is written where it is no such time."""
    try:
        return f"{parsedate_to_datetime(written):%Y-%m-%d %H:%M:%S %z}".rstrip()
    except (ValueError, OverflowError):
        return written


def _decoded_words(raw: str) -> str:
    """Decode =?charset?B?…?= where there is any. Neighbours are joined first: some programs cut inside a character."""
    unfolded = _GAP.sub("", _FOLD.sub("", raw))
    try:
        parts = decode_header(unfolded) if "=?" in unfolded else [(unfolded, None)]
    except (HeaderParseError, BadBase64):
        parts = [(unfolded, None)]
    texts = []
    for part, charset in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        texts.append(readable_text(data, charset))
    return single_line("".join(texts))


def _file_name(part: Part) -> str:
    """What the sender called a file, without folders; empty for a part that has no name."""
    given = part.get_param("filename", header="content-disposition") or part.get_param("name")
    if isinstance(given, tuple):
        name = clean_text(collapse_rfc2231_value(given))
    else:
        name = _decoded_words(given) if isinstance(given, str) else ""
    return PurePosixPath(name.replace("\\", "/")).name


def _leaves(part: Part) -> Iterator[Part]:
    """The parts that hold content, in order; an attached mail is one."""
    payload = part.get_payload()
    if isinstance(payload, list) and part.get_content_maintype() == "multipart":
        for inner in payload:
            if isinstance(inner, Message):
                yield from _leaves(inner)
    else:
        yield part


def _is_text(part: Part) -> bool:
    return (
        part.get_content_type() in (_PLAIN, _HTML)
        and part.get_content_disposition() != "attachment"
        and not _file_name(part)
    )


def _is_inline_picture(part: Part) -> bool:
    is_shown = "Content-ID" in part and part.get_content_disposition() != "attachment"
    return is_shown and part.get_content_maintype() == "image"


def _attached(message: Part) -> list[Part]:
    """What is neither the mail's text, nor a picture inside it, nor a signature."""
    kinds = _SIGNATURES | {"text/calendar"}
    not_here = {ELSEWHERE, RTF_ALONE}
    return [
        part
        for part in _leaves(message)
        if not _is_text(part)
        and part.get_content_type() not in not_here
        and not _is_inline_picture(part)
        and not (part.get_content_type() in kinds and part.get_content_disposition() != "attachment")
    ]


def _bodies(part: Part) -> list[Part]:
    """The texts to read: of alternatives the plain one, where it says anything, else the HTML."""
    payload = part.get_payload()
    if not isinstance(payload, list) or part.get_content_maintype() != "multipart":
        return [part] if _is_text(part) and _data(part).strip() else []
    inner = [texts for one in payload if isinstance(one, Message) and (texts := _bodies(one))]
    if part.get_content_subtype() != "alternative":
        return [text for texts in inner for text in texts]
    plain = [texts for texts in inner if any(text.get_content_type() == _PLAIN for text in texts)]
    return (plain or inner or [[]])[0]


def _add_body(part: Part, builder: MarkdownBuilder, pictures: PictureIntake, cells: CellCount) -> None:
    """Append a text. :raises ParseError: ``unknown_encoding`` or ``too_many_cells``."""
    data, charset = _data(part), part.get_content_charset()
    if part.get_content_type() == _HTML:
        read_html(data, builder, pictures, cells, charset=charset or "")
        return
    text = decode_text(data, declared=charset).text
    for block in text_blocks(text):
        builder.add(block.kind, text[block.start : block.end], level=block.level)


def _notices(message: Part) -> tuple[Notice, ...]:
    found = attachments(message)
    named: tuple[Notice, ...] = ()
    if found:
        names = ", ".join(one.name for one in found[:_MOST_NAMED]) + (" …" if len(found) > _MOST_NAMED else "")
        named = (notice_of("left_out", "mail_attachments", count=len(found), names=names),)
    leaves = list(_leaves(message))
    pictures = sum(1 for part in leaves if _is_inline_picture(part))
    kinds = [part.get_content_type() for part in leaves]
    return (
        *named,
        *counted(pictures, "mail_pictures_left_out"),
        *counted(kinds.count(ELSEWHERE), "mail_attachments_elsewhere"),
        *counted(kinds.count(RTF_ALONE), "mail_text_in_rtf"),
    )
