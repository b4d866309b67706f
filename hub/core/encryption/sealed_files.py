"""A file encrypted in chunks, so that it streams, and a part of it is read without the rest.

The construction is the one known as STREAM, as Tink's AES-GCM-HKDF streaming uses it. Source: Hoang, Reyhanitabar,
Rogaway and Vizár, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", CRYPTO 2015.

The header (32 bytes) is ``HUBSEAL``, the version of the format (1), the binary logarithm of the chunk size (16), 16
bytes of salt and 7 bytes of nonce prefix, both random. The file's key is HKDF-SHA256 of the data key, the salt, and the
object's name: writing twice with one data key never repeats a nonce. Each chunk of 64 KiB is AES-256-GCM under the
nonce prefix ‖ number (4 bytes) ‖ 1 for the last chunk, else 0, with the header as associated data. So chunks can't be
cut off, added, exchanged, repeated, or taken from another file or another name.
"""

from __future__ import annotations

import io
import os
import struct
from typing import IO, TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from hub.core.encryption.errors import SealBroken

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC = b"HUBSEAL"
VERSION = 1
CHUNK_EXPONENT = 16
CHUNK_BYTES = 1 << CHUNK_EXPONENT
TAG_BYTES = 16
_HEADER = struct.Struct(">7sBB16s7s")
HEADER_BYTES = _HEADER.size
_MOST_CHUNKS = 1 << 32


def _cipher(data_key: bytes, salt: bytes, name: str) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = b"hub sealed file 1\0" + name.encode()
    return AESGCM(HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(data_key))


def _nonce(prefix: bytes, index: int, *, is_last: bool) -> bytes:
    return prefix + index.to_bytes(4, "big") + (b"\1" if is_last else b"\0")


class SealingReader(io.RawIOBase):
    """Reads a plain file as its sealed bytes, which a store copies; the plain file is read once, from where it is."""

    def __init__(self, plain: IO[bytes], data_key: bytes, name: str) -> None:
        salt, self._prefix = os.urandom(16), os.urandom(7)
        self._header = _HEADER.pack(MAGIC, VERSION, CHUNK_EXPONENT, salt, self._prefix)
        self._cipher = _cipher(data_key, salt, name)
        self._plain = plain
        self._next: bytes | None = plain.read(CHUNK_BYTES)
        self._index = 0
        self._ready = memoryview(self._header)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer).cast("B")
        if not self._ready:
            self._ready = memoryview(self._seal_next())
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _seal_next(self) -> bytes:
        if self._next is None:
            return b""
        if self._index >= _MOST_CHUNKS:
            raise OverflowError("a sealed file has at most 2^32 chunks")
        chunk = self._next
        following = self._plain.read(CHUNK_BYTES) if len(chunk) == CHUNK_BYTES else b""
        self._next = following or None
        nonce = _nonce(self._prefix, self._index, is_last=not following)
        self._index += 1
        return self._cipher.encrypt(nonce, chunk, self._header)


class UnsealingReader(io.RawIOBase):
    """Reads a sealed, seekable file as its plain bytes; seeking opens the chunks that are read, and the last one.

    The end is checked when the file is opened, so that one that was cut off is refused before anything is given.

    :raises SealBroken: here and when reading: these are not the bytes that were sealed under this key and name.
    """

    def __init__(self, sealed: IO[bytes], data_key: bytes, name: str) -> None:
        self._sealed, self._name = sealed, name
        body_bytes = sealed.seek(0, os.SEEK_END) - HEADER_BYTES
        sealed.seek(0)
        self._header = sealed.read(HEADER_BYTES)
        if len(self._header) < HEADER_BYTES or body_bytes < TAG_BYTES:
            raise self._broken()
        magic, version, exponent, salt, self._prefix = _HEADER.unpack(self._header)
        if magic != MAGIC or version != VERSION or exponent != CHUNK_EXPONENT:
            raise self._broken()
        self._chunks = -(-body_bytes // (CHUNK_BYTES + TAG_BYTES))
        self.size = body_bytes - self._chunks * TAG_BYTES
        self._cipher = _cipher(data_key, salt, name)
        self._position = 0
        self._open_index, self._open = -1, b""
        self._chunk(self._chunks - 1)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer).cast("B")
        if self._position >= self.size:
            return 0
        index, offset = divmod(self._position, CHUNK_BYTES)
        piece = memoryview(self._chunk(index))[offset : offset + len(target)]
        target[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._sealed.close()
        super().close()

    def _chunk(self, index: int) -> bytes:
        if index != self._open_index:
            from cryptography.exceptions import InvalidTag

            self._sealed.seek(HEADER_BYTES + index * (CHUNK_BYTES + TAG_BYTES))
            sealed = self._sealed.read(CHUNK_BYTES + TAG_BYTES)
            nonce = _nonce(self._prefix, index, is_last=index == self._chunks - 1)
            try:
                self._open = self._cipher.decrypt(nonce, sealed, self._header)
            except InvalidTag as error:
                raise self._broken() from error
            self._open_index = index
        return self._open

    def _broken(self) -> SealBroken:
        return SealBroken(
            _("The encrypted file {name} is not what was stored: it was changed, cut, or put in the place of another. "
              "Restore it from a backup."),
            name=self._name,
        )  # fmt: skip


def open_sealed(sealed: IO[bytes], data_key: bytes, name: str) -> IO[bytes]:
    """Open a sealed file for reading, buffered; closing it closes ``sealed``. Errors as in :class:`UnsealingReader`."""
    try:
        reader = UnsealingReader(sealed, data_key, name)
    except BaseException:
        sealed.close()
        raise
    return io.BufferedReader(reader, CHUNK_BYTES)
