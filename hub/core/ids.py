"""Opaque public ids: a prefix that tells the kind, and 100 random bits in Crockford base 32."""

from __future__ import annotations

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 20


def new_id(prefix: str) -> str:
    """Make a public id such as ``doc_7k3m…``; unguessable, safe in URLs and file names."""
    # Of 256 bytes 8 fall on each character, so none is likelier than another.
    return f"{prefix}_" + "".join(ALPHABET[byte % len(ALPHABET)] for byte in secrets.token_bytes(LENGTH))
