"""Another format of an office document, made by LibreOffice where it is installed. Run in parser children."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from knowledge.parsers.detect import detect_format
from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.limits import ParseLimits

PAGED = frozenset({"docx", "pptx", "doc", "odt", "rtf", "ppt", "odp"})
"""Formats whose pages LibreOffice can show."""
PAGES_TASK = "knowledge.parsers.office.conversion:make_pages"
_PLACES = ("/usr/lib/libreoffice/program", "/usr/lib64/libreoffice/program")
_NOT_OPENED = 3
# Slides are counted with those that are hidden, as their texts are read.
_PDF_OPTIONS = json.dumps({"ExportHiddenSlides": {"type": "boolean", "value": "true"}})


@cache
def programs() -> Path | None:
    """The folder of LibreOffice's library; None where it is not installed."""
    return next((Path(place) for place in _PLACES if Path(place, "libmergedlo.so").is_file()), None)


def make_pages(path: Path, *, limits: ParseLimits, folder: Path, filename: str) -> str:
    """Make a PDF of a document in ``folder``; gives its name.

    :raises ParseError: as `converted`.
    """
    format_name = detect_format(path, filename=filename)
    with converted(path, format_name=format_name, target="pdf", limits=limits) as made:
        shutil.copyfile(made, folder / made.name)  # the child may not move files from folder to folder
    return json.dumps({"file": made.name})


@contextmanager
def converted(path: Path, *, format_name: str, target: str, limits: ParseLimits) -> Iterator[Path]:
    """Convert a document, and give the file inside the block.

    :raises ParseError: ``convert_first`` where LibreOffice is not installed, ``corrupted``, ``timeout``.
    """
    office = programs()
    if office is None:
        raise parse_error("convert_first", format=format_name, target=target)
    with tempfile.TemporaryDirectory(prefix="hub-office-") as folder:
        # LibreOffice chooses the filter by the name before it looks at the content.
        source, made = Path(folder, f"source.{format_name}"), Path(folder, f"converted.{target}")
        source.write_bytes(path.read_bytes())
        _convert(office, source, made, Path(folder, "profile"), format_name, limits)
        yield made


def _convert(office: Path, source: Path, made: Path, profile: Path, format_name: str, limits: ParseLimits) -> None:
    script = Path(__file__).with_name("convert.py")
    folder = str(source.parent)
    # A plain drawing backend without a display; nothing of the hub is in the environment.
    environment = {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "SAL_USE_VCLPLUGIN": "svp", "PATH": os.defpath}
    command = [sys.executable, "-I", "-S", str(script), str(office), str(source), str(made), made.suffix[1:]]
    options = _PDF_OPTIONS if made.suffix == ".pdf" else ""
    try:
        done = subprocess.run(
            [*command, str(profile), options],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.wall_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise parse_error("timeout", limit=f"{limits.wall_s:.0f}") from error
    if done.returncode or not made.is_file():
        detail = "LibreOffice" if done.returncode == _NOT_OPENED else f"LibreOffice {done.returncode}"
        raise corrupted(format_name, detail)
