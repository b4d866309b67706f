"""Opaque public ids: a prefix that tells the kind, and 100 random bits in Crockford base 32."""

from __future__ import annotations

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 20


def new_id(prefix: str) -> str:
    """Make a public id such as ``doc_7k3m…``; unguessable, safe in URLs and file names."""
    return f"{prefix}_" + "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
