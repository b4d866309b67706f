"""doc, ppt, odt, odp and rtf: converted to docx or pptx by LibreOffice, and then read like those."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from knowledge.parsers.archives import check_archive
from knowledge.parsers.detect import detect_format
from knowledge.parsers.docx.parser import parse as parse_docx
from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pptx.parser import parse as parse_pptx
from knowledge.types.documents import ParsedDocument

TARGETS = {"doc": "docx", "odt": "docx", "rtf": "docx", "ppt": "pptx", "odp": "pptx"}
_PLACES = ("/usr/lib/libreoffice/program", "/usr/lib64/libreoffice/program")
_NOT_OPENED = 3


@cache
def programs() -> Path | None:
    """The folder of LibreOffice's library; None where it is not installed."""
    return next((Path(place) for place in _PLACES if Path(place, "libmergedlo.so").is_file()), None)


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Convert and read.

    :raises ParseError: ``convert_first`` where LibreOffice is not installed, ``corrupted``, ``timeout``, and what
        reading a docx or pptx raises.
    """
    format_name = detect_format(path, filename=filename)
    target = TARGETS[format_name]
    office = programs()
    if office is None:
        raise parse_error("convert_first", format=format_name, target=target)
    with tempfile.TemporaryDirectory(prefix="hub-office-") as folder:
        # LibreOffice chooses the filter by the name before it looks at the content.
        source, converted = Path(folder, f"source.{format_name}"), Path(folder, f"converted.{target}")
        source.write_bytes(path.read_bytes())
        _convert(office, source, converted, Path(folder, "profile"), format_name, limits)
        check_archive(converted, format_name=target, limits=limits)
        read = parse_docx if target == "docx" else parse_pptx
        parsed = read(converted, filename=converted.name, limits=limits)
    return dataclasses.replace(parsed, format=format_name, metadata={**parsed.metadata, "converted_by": "LibreOffice"})


def _convert(office: Path, source: Path, converted: Path, profile: Path, format_name: str, limits: ParseLimits) -> None:
    script = Path(__file__).with_name("convert.py")
    folder = str(source.parent)
    # A plain drawing backend without a display; nothing of the hub is in the environment.
    environment = {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "SAL_USE_VCLPLUGIN": "svp", "PATH": os.defpath}
    command = [sys.executable, "-I", "-S", str(script), str(office), str(source), str(converted), converted.suffix[1:]]
    try:
        done = subprocess.run(
            [*command, str(profile)],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.wall_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise parse_error("timeout", limit=f"{limits.wall_s:.0f}") from error
    if done.returncode or not converted.is_file():
        detail = "LibreOffice" if done.returncode == _NOT_OPENED else f"LibreOffice {done.returncode}"
        raise corrupted(format_name, detail)
