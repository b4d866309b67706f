"""The digest that tells whether two requests ask for the same thing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from django.http import HttpRequest

from hub.access.principals import Principal

CHUNK_BYTES = 64 * 1024


def request_digest(request: HttpRequest, principal: Principal) -> str:
    """Hash method, path, query, body and the caller's scopes (sha256, hex).

    A multipart body is hashed as its parsed fields and files, whose content is read in chunks: a repeat may draw
    other part boundaries, and files may be far larger than memory. Other bodies are hashed as they are.

    :raises RequestDataTooBig: a body other than multipart is above DATA_UPLOAD_MAX_MEMORY_SIZE.
    """
    total = hashlib.sha256()
    for part in _parts(request, principal):
        # each part is hashed with its length in front, so that no two lists of parts run together alike
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()


def _parts(request: HttpRequest, principal: Principal) -> Iterator[bytes]:
    yield (request.method or "").encode()
    yield request.get_full_path().encode()
    yield (request.content_type or "").encode()
    # a token with fewer scopes must not be answered with what one with more was told
    yield ",".join(sorted(principal.scopes)).encode()
    if request.content_type == "multipart/form-data" and request.method == "POST":
        yield from _form_parts(request)
    else:
        yield request.body


def _form_parts(request: HttpRequest) -> Iterator[bytes]:
    for name, values in sorted(request.POST.lists()):
        for value in values:
            yield name.encode()
            yield str(value).encode("utf-8", "surrogatepass")
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            digest = hashlib.sha256()
            for chunk in file.chunks(CHUNK_BYTES):
                digest.update(chunk)
            file.seek(0)
            yield name.encode()
            yield (file.name or "").encode("utf-8", "surrogatepass")
            yield digest.digest()
