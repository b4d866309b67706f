"""Messages that Outlook saved (msg), as mails: with the headers, texts and attachments that an eml has.

A message is a container of properties ([MS-OXMSG]): values of fixed length in one stream, texts and files in streams
of their own. Texts are UTF-16, or in a code page that the message names, which many do wrongly or not at all.
"""

from __future__ import annotations

import email
import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.encoders import encode_base64
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.utils import format_datetime
from typing import Any

import olefile

from knowledge.parsers.encoding import readable_text
from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.render import single_line

PROPERTIES = "__properties_version1.0"
"""The stream that every message has."""
ELSEWHERE = "message/external-body"
"""What is named as an attachment, but is not in the mail (RFC 2046)."""
RTF_ALONE = "application/x-rtf-compressed"
"""A mail's text that is there in Outlook's packed RTF only."""

Place = tuple[str, ...]

# Source: [MS-OXPROPS] and [MS-OXMSG] 2.4: how long the head of a stream of properties is, in bytes.
_MESSAGE_HEAD, _ATTACHED_MESSAGE_HEAD, _HEAD = 32, 24, 8
_UNICODE, _NARROW, _BINARY, _OBJECT = "001F", "001E", "0102", "000D"
_CLASS, _SUBJECT, _HEADERS = 0x001A, 0x0037, 0x007D
_SENT, _DELIVERED = 0x0039, 0x0E06
_SENDER_NAME, _SENDER_SMTP, _SENDER_ADDRESS = 0x0C1A, 0x5D01, 0x0C1F
_RECIPIENT_KIND, _NAME, _SMTP, _ADDRESS = 0x0C15, 0x3001, 0x39FE, 0x3003
_TEXT, _RTF, _HTML = 0x1000, 0x1009, 0x1013
_DATA, _SHORT_NAME, _METHOD, _LONG_NAME, _MIME = 0x3701, 0x3704, 0x3705, 0x3707, 0x370E
_CONTENT_ID, _FLAGS, _HIDDEN = 0x3712, 0x3714, 0x7FFE
_MESSAGE_CODE_PAGE, _TEXT_CODE_PAGE = 0x3FFD, 0x3FDE
_BY_VALUE, _IS_MESSAGE, _SHOWN_IN_TEXT = 1, 5, 0x4
_KINDS = {1: "To", 2: "Cc"}
_CODE_PAGES = {65001: "utf-8", 20127: "ascii", 51932: "euc_jp", 50220: "iso2022_jp", 50221: "iso2022_jp"}
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_SEALED, _SIGNED = "ipm.note.smime", "ipm.note.smime.multipartsigned"
_DEEPEST = 8


def read_outlook(data: bytes) -> Message:
    """Read a message's parts. :raises ParseError: ``corrupted``, ``too_complex``, or ``mail_sealed``.

    :raises RecursionError: storages, or the parts of what was signed, are nested without end.
    """
    try:
        with _Container(data) as container:
            # Streams may share sectors, so that a small file says to hold much.
            if sum(container.get_size(place) for place in container.listdir()) > len(data):
                raise corrupted("msg", "sizes of streams")
            return _message(container, (), head=_MESSAGE_HEAD)
    except (OSError, ValueError, IndexError, TypeError, struct.error) as error:
        raise corrupted("msg", type(error).__name__) from error


class _Container(olefile.OleFileIO):  # type: ignore[type-arg]  # its stubs have an argument that it lacks
    """A container that finds what is at a place by its names; the library's own looks through all beside it."""

    def _find(self, filename: Sequence[str]) -> int:
        """Return the number of an entry. :raises OSError: nothing is there."""
        entry = self.entry(filename)
        if entry is None:
            raise OSError("nothing is there")
        return int(entry.sid)

    def entry(self, place: Sequence[str]) -> Any:  # noqa: ANN401 (the library has no types)
        """Return what is at a place, None where nothing is."""
        found: Any = self.root
        for name in place:
            found = found and found.kids_dict.get(name.lower())
        return found


class _Properties:
    """What is said of a message, a recipient or an attachment, whose storage is at ``place``."""

    def __init__(self, container: _Container, place: Place, *, head: int, charset: str = "") -> None:
        self._container = container
        self.place = place
        listed = self._stream(PROPERTIES)[head:]
        whole = listed[: len(listed) // 16 * 16]
        self._fixed = {number: value for _kind, number, _flags, value in struct.iter_unpack("<HHI8s", whole)}
        self.charset = self._charset(_MESSAGE_CODE_PAGE) or charset

    def number(self, number: int) -> int:
        """A number of four bytes; 0 where there is none."""
        return int(struct.unpack_from("<i", self._fixed.get(number, bytes(8)))[0])

    def moment(self, number: int) -> datetime | None:
        """A time, which is in steps of 100 nanoseconds since 1601."""
        (steps,) = struct.unpack("<Q", self._fixed.get(number, bytes(8)))
        try:
            return _EPOCH + timedelta(microseconds=steps // 10) if steps else None
        except OverflowError:
            return None

    def text(self, *numbers: int) -> str:
        """The first text in one line that is there of several; empty without any."""
        for number in numbers:
            wide, narrow = self._stream(_substance(number, _UNICODE)), self._stream(_substance(number, _NARROW))
            text = wide.decode("utf-16-le", "replace") if wide else readable_text(narrow, self.charset or None)
            if line := single_line(text):
                return line
        return ""

    def file(self, number: int) -> bytes:
        """The bytes of a property; empty without any."""
        return self._stream(_substance(number, _BINARY))

    def written(self, number: int) -> tuple[bytes, str]:
        """A text's bytes, and the encoding that they are said to have, empty where none is named."""
        if wide := self._stream(_substance(number, _UNICODE)):
            return wide.decode("utf-16-le", "replace").encode(), "utf-8"
        return self._stream(_substance(number, _NARROW)) or self.file(number), (
            self._charset(_TEXT_CODE_PAGE) or self.charset
        )

    def below(self, name: str) -> Place | None:
        """The place of a storage inside this one; None when there is none."""
        place = (*self.place, name)
        return place if self._container.get_type(list(place)) == olefile.STGTY_STORAGE else None

    def members(self, prefix: str) -> list[Place]:
        """The storages inside this one whose names begin so, in the order of their numbers."""
        kids = self._container.entry(self.place).kids
        names = (kid.name for kid in kids if kid.entry_type == olefile.STGTY_STORAGE and kid.name.startswith(prefix))
        return [(*self.place, name) for name in sorted(names)]

    def _stream(self, name: str) -> bytes:
        place = [*self.place, name]
        if self._container.get_type(place) != olefile.STGTY_STREAM:
            return b""
        return bytes(self._container.openstream(place).read())

    def _charset(self, number: int) -> str:
        page = self.number(number)
        return _CODE_PAGES.get(page, f"cp{page}") if page > 0 else ""


def _substance(number: int, kind: str) -> str:
    return f"__substg1.0_{number:04X}{kind}"


def _message(container: _Container, place: Place, *, head: int) -> Message:
    if len(place) > _DEEPEST * 2:  # an attachment's storage, and the message's in it
        raise parse_error("too_complex")
    said = _Properties(container, place, head=head)
    kind = said.text(_CLASS).lower()
    if kind.startswith(_SEALED) and not kind.startswith(_SIGNED):
        raise parse_error("mail_sealed")
    mail = MIMEMultipart("mixed")
    for name, value in _headers(container, said):
        mail[name] = value
    attached = [_Properties(container, one, head=_HEAD, charset=said.charset) for one in said.members("__attach_")]
    if kind.startswith(_SIGNED) and len(attached) == 1:
        mail.attach(email.message_from_bytes(attached[0].file(_DATA)))
        return mail
    mail.attach(_texts(said))
    for one in attached:
        mail.attach(_attachment(container, one))
    return mail


def _headers(container: _Container, said: _Properties) -> list[tuple[str, str]]:
    found = [("From", _person(said, _SENDER_NAME, _SENDER_SMTP, _SENDER_ADDRESS))]
    recipients = [_Properties(container, place, head=_HEAD, charset=said.charset) for place in said.members("__recip_")]
    for number, name in _KINDS.items():
        people = [one for one in recipients if one.number(_RECIPIENT_KIND) == number]
        found.append((name, ", ".join(_person(one, _NAME, _SMTP, _ADDRESS) for one in people)))
    moment = said.moment(_SENT) or said.moment(_DELIVERED)
    # As the sender wrote it, where the message came over the Internet: with the hour of their own place.
    written = email.message_from_string(_header_lines(said)).get("Date", "")
    found.append(("Date", single_line(written) or (format_datetime(moment) if moment else "")))
    found.append(("Subject", said.text(_SUBJECT)))
    return [(name, value) for name, value in found if value]


def _header_lines(said: _Properties) -> str:
    data, charset = said.written(_HEADERS)
    return readable_text(data, charset or None)


def _person(said: _Properties, name: int, *addresses: int) -> str:
    known, address = said.text(name), said.text(*addresses)
    if not known or known == address or "@" not in address:  # an address inside one's own house is a path of folders
        return known or address
    return f"{known} <{address}>"


def _texts(said: _Properties) -> Message:
    """The text as it is and as HTML, as alternatives of each other."""
    texts = MIMEMultipart("alternative")
    for number, kind in ((_TEXT, "plain"), (_HTML, "html")):
        data, charset = said.written(number)
        if data.strip(b"\0 \r\n\t"):
            texts.attach(_part(f"text/{kind}", data, charset=charset))
    if not texts.get_payload() and said.file(_RTF):
        texts.attach(_part(RTF_ALONE, b""))
    return texts


def _attachment(container: _Container, said: _Properties) -> Message:
    name = said.text(_LONG_NAME, _SHORT_NAME, _NAME)
    inner = said.below(_substance(_DATA, _OBJECT))
    if said.number(_METHOD) == _IS_MESSAGE and inner is not None:
        part: Message = MIMEMessage(_message(container, inner, head=_ATTACHED_MESSAGE_HEAD))
        name = f"{name.replace('/', '_')}.eml" if name else ""
    elif said.number(_METHOD) != _BY_VALUE and not said.file(_DATA):
        part = _part(ELSEWHERE, b"")
    elif _is_shown_in_text(said):
        part = _part(said.text(_MIME), said.file(_DATA))
        part["Content-ID"] = f"<{said.text(_CONTENT_ID)}>"
        return part
    else:
        part = _part("application/octet-stream", said.file(_DATA))
    part.add_header("Content-Disposition", "attachment", **({"filename": ("utf-8", "", name)} if name else {}))
    return part


def _is_shown_in_text(said: _Properties) -> bool:
    is_picture = said.text(_MIME).lower().startswith("image/") and bool(said.text(_CONTENT_ID))
    return is_picture and bool(said.number(_HIDDEN) & 1 or said.number(_FLAGS) & _SHOWN_IN_TEXT)


def _part(kind: str, data: bytes, *, charset: str = "") -> Message:
    main, _slash, sub = kind.partition("/")
    part = MIMENonMultipart(main, sub)
    if charset:
        part.set_param("charset", charset)
    part.set_payload(data)
    encode_base64(part)
    return part
