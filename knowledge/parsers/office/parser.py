"""doc, ppt, odt, odp and rtf: converted to docx or pptx by LibreOffice, and then read like those."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from knowledge.parsers.archives import check_archive
from knowledge.parsers.detect import detect_format
from knowledge.parsers.docx.parser import parse as parse_docx
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.office.conversion import converted
from knowledge.parsers.pptx.parser import parse as parse_pptx
from knowledge.types.documents import ParsedDocument

TARGETS = {"doc": "docx", "odt": "docx", "rtf": "docx", "ppt": "pptx", "odp": "pptx"}


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Convert and read.

    :raises ParseError: ``convert_first`` where LibreOffice is not installed, ``corrupted``, ``timeout``, and what
        reading a docx or pptx raises.
    """
    format_name = detect_format(path, filename=filename)
    target = TARGETS[format_name]
    with converted(path, format_name=format_name, target=target, limits=limits) as made:
        check_archive(made, format_name=target, limits=limits)
        read = parse_docx if target == "docx" else parse_pptx
        parsed = read(made, filename=made.name, limits=limits)
    return dataclasses.replace(parsed, format=format_name, metadata={**parsed.metadata, "converted_by": "LibreOffice"})
