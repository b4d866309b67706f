"""The file of an import from its preview to the page that stores it: signed in the form, so that it is chosen once."""

from __future__ import annotations

import base64
import zlib
from datetime import timedelta

from django.core import signing
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from hub.core.errors import InvalidInput
from hub.rest.uploads import received_file

# What a preview may carry from one page to the next; Django refuses forms above 2.5 MB.
MAX_CARRIED = 1_500_000
LONGEST_PREVIEW = timedelta(days=1)


def _salt_of(request: HttpRequest, salt: str) -> str:
    """What a page's person signs with: nobody stores what another was shown."""
    return f"{salt} {request.user.pk}"


def carry_file(request: HttpRequest, filename: str, content: bytes, *, salt: str) -> str:
    """The file for the person's next request, signed; empty when it is too large, and then it is chosen again."""
    packed = base64.b64encode(zlib.compress(content)).decode()
    return (
        ""
        if len(packed) > MAX_CARRIED
        else signing.dumps({"filename": filename, "content": packed}, salt=_salt_of(request, salt))
    )


def chosen_file(request: HttpRequest, *, salt: str) -> tuple[str, bytes]:
    """Name and bytes of the file that a POST with ``store`` carries, or that was chosen. Raises InvalidInput."""
    if "store" in request.POST and request.POST.get("carried"):
        try:
            facts = signing.loads(request.POST["carried"], salt=_salt_of(request, salt), max_age=LONGEST_PREVIEW)
        except signing.BadSignature as error:
            raise InvalidInput(_("The preview is no longer valid. Choose the file again.")) from error
        return facts["filename"], zlib.decompress(base64.b64decode(facts["content"]))
    if "file" not in request.FILES:
        raise InvalidInput(_("Choose a file."))
    with received_file(request.FILES.getlist("file")[0]) as received:
        return received.filename, received.path.read_bytes()
