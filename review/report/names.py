"""What the files of a review are called where people file them."""

from __future__ import annotations

import re
from pathlib import PurePath

from knowledge.parsers.detect import ACCEPTED_SUFFIXES
from review.report.facts import ReportFacts

MOST_OF_TITLE = 60
"""Characters of a title in a file's name: with the rest in UTF-8 it stays below the 255 bytes that names may have."""
_NOT_IN_NAMES = re.compile(r"[\\/:*?\"<>|\s\x00-\x1f\x7f]+")


def name_to_file_by(kind: str, facts: ReportFacts) -> str:
    """Return a name without its ending: the kind, the document, its version and the day of the review.

    A title that is a file's name, as that of a document without headings is, goes without its ending.
    """
    title = _without_endings(_NOT_IN_NAMES.sub(" ", facts.title).strip())[:MOST_OF_TITLE].rstrip(". ")
    parts = [kind, title, f"v{facts.review.version}", f"{facts.day:%Y%m%d}" if facts.day else ""]
    return "_".join(filter(None, parts))


def _without_endings(title: str) -> str:
    while PurePath(title).suffix.lower() in ACCEPTED_SUFFIXES:
        title = str(PurePath(title).with_suffix(""))
    return title
