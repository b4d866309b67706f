"""Master keys as operators write them: 32 bytes in base64 or hex."""

from __future__ import annotations

import base64
import binascii
import secrets

KEY_BYTES = 32


def parse_keys(text: str) -> tuple[bytes, ...]:
    """Read keys between commas, spaces and line ends, each 32 bytes in base64 or as 64 hex digits; # begins a comment.

    :raises ValueError: a key is neither; the message names its place and does not repeat it.
    """
    words = " ".join(line.partition("#")[0] for line in text.splitlines()).replace(",", " ").split()
    return tuple(_parse_key(word, number) for number, word in enumerate(words, 1))


def _parse_key(word: str, number: int) -> bytes:
    try:
        key = bytes.fromhex(word) if len(word) == 2 * KEY_BYTES else base64.b64decode(word, validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(
            f"key {number} is not {KEY_BYTES} bytes in base64 or hex; make one with: manage.py encryption new-key"
        )
    return key


def new_key() -> str:
    """Make a random master key, in base64."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
