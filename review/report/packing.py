"""Office files with the same bytes for the same content: zip archives without the time at which they were made."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

EARLIEST = (1980, 1, 1, 0, 0, 0)
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Leave out the characters that XML can't hold. Source: XML 1.0, 2.2."""
    return _NOT_XML.sub("", text)


def without_times(packed: bytes) -> bytes:
    """Pack a zip archive again with one fixed time for all its members, in their order."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(packed)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in source.infolist():
            member = zipfile.ZipInfo(entry.filename, date_time=EARLIEST)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, source.read(entry))
    return target.getvalue()
