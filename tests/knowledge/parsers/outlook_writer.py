"""Messages as Outlook saves them (msg), written by hand."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.knowledge.parsers.containers import write_container

Value = str | bytes | int
UTF_16 = ""
_SUBJECT, _SENDER_NAME, _SENDER_SMTP, _CLASS = 0x0037, 0x0C1A, 0x5D01, 0x001A
_TEXT, _HTML = 0x1000, 0x1013


@dataclass(frozen=True, kw_only=True)
class Message:
    """What is written; ``properties`` are by their ids. ``charset`` is that of texts that are not UTF-16."""

    subject: str = "第3回 打合せ議事録の送付"
    text: str | None = "1. 性能\n\n応答は3秒以内とする。"
    html: bytes | None = None
    charset: str = UTF_16
    code_page: int | None = None
    kind: str = "IPM.Note"
    properties: Mapping[int, Value] = field(default_factory=dict)
    to: Sequence[tuple[int, str, str]] = ((1, "設計担当", "design@example.jp"),)
    attachments: Sequence[Mapping[int, Value]] = ()
    inner: Sequence[tuple[str, Message]] = ()


def attached(name: str, data: bytes, **more: Value) -> dict[int, Value]:
    """A file attached by value; ``more`` are properties by their ids in hex (``p3712``)."""
    return {0x3707: name, 0x3701: data, 0x3705: 1, **{int(key[1:], 16): value for key, value in more.items()}}


def write_msg(message: Message) -> bytes:
    return write_container(dict(_storage(message, "", bytes(32))))


def _storage(message: Message, at: str, head: bytes) -> Mapping[str, bytes]:
    said: dict[int, Value] = {
        _CLASS: message.kind,
        _SUBJECT: message.subject,
        _SENDER_NAME: "山田 太郎",
        _SENDER_SMTP: "yamada@example.jp",
    }
    if message.text is not None:
        said[_TEXT] = message.text
    if message.html is not None:
        said[_HTML] = message.html
    if message.code_page is not None:
        said |= {0x3FFD: message.code_page, 0x3FDE: message.code_page}
    streams = dict(_properties({**said, **message.properties}, at, head, message.charset))
    for number, (kind, name, address) in enumerate(message.to):
        person: dict[int, Value] = {0x0C15: kind, 0x3001: name, 0x39FE: address}
        streams |= _properties(person, f"{at}__recip_version1.0_#{number:08X}/", bytes(8), message.charset)
    for number, one in enumerate(message.attachments):
        streams |= _properties(one, f"{at}__attach_version1.0_#{number:08X}/", bytes(8), message.charset)
    for number, (name, inner) in enumerate(message.inner, len(message.attachments)):
        place = f"{at}__attach_version1.0_#{number:08X}/"
        streams |= _properties({0x3705: 5, 0x3001: name}, place, bytes(8), message.charset)
        streams |= _storage(inner, f"{place}__substg1.0_3701000D/", bytes(24))
    return streams


def _properties(said: Mapping[int, Value], at: str, head: bytes, charset: str) -> Mapping[str, bytes]:
    """The stream of properties, and one for each text and file."""
    listed, streams = head, {}
    for number, value in said.items():
        if isinstance(value, int):
            kind, fixed = (0x0040, value) if value >= 2**31 else (0x0003, value)
        else:
            kind = 0x0102 if isinstance(value, bytes) else 0x001E if charset else 0x001F
            data = value if isinstance(value, bytes) else value.encode(charset or "utf-16-le")
            streams[f"{at}__substg1.0_{number:04X}{kind:04X}"] = data
            fixed = len(data)
        listed += struct.pack("<HHIQ", kind, number, 6, fixed)
    return {f"{at}__properties_version1.0": listed, **streams}
