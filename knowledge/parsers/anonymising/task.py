"""The task of a child that takes chosen values out of a file: the file as it is to be stored, and what was replaced.

What comes out is read again, as the pipeline would, and by its places where no reader looks: a file in which something
of the chosen kinds is left is refused. So is every format that can't be written again without a risk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from hub.core.texts import Text
from knowledge.parsers.anonymising.html import replace_in_html
from knowledge.parsers.anonymising.office import rewrite_package
from knowledge.parsers.anonymising.slots import Replacer
from knowledge.parsers.anonymising.texts import replace_in_csv, replace_in_text, rewritten
from knowledge.parsers.concealed import UnreadableOriginal, read_writings
from knowledge.parsers.detect import detect_format
from knowledge.parsers.errors import parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.registry import parse_file
from knowledge.types.anonymising import Anonymising, counted_by_kind
from knowledge.types.notices import text_of

TASK = f"{__name__}:anonymise"
RESULT = "anonymised"
_CHARSET = re.compile(rb"charset\s{0,5}=\s{0,5}[\"']?([\w-]{2,40})", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")


def anonymise(
    path: Path, *, limits: ParseLimits, folder: Path, filename: str, kinds: list[str], fields: list[str]
) -> str:
    """Write RESULT into ``folder`` and give ``{"replaced": {kind: number}}``.

    :raises ParseError: the file can't be read, ``not_anonymised`` for its format, ``left_in_clear``.
    """
    wanted = Anonymising(kinds=frozenset(kinds), fields=frozenset(fields))
    limits.check_input(path.stat().st_size)
    format_name = detect_format(path, filename=filename)
    result = folder / RESULT
    replaced = _rewrite(path, result, format_name, wanted, filename, limits)
    _check(result, format_name, wanted, filename, limits)
    return json.dumps({"replaced": counted_by_kind(replaced)})


def _rewrite(
    path: Path, result: Path, format_name: str, wanted: Anonymising, filename: str, limits: ParseLimits
) -> dict[str, int]:
    replacer = Replacer(wanted)
    if format_name in ("md", "txt", "csv", "html"):
        data = path.read_bytes()
        declared = _CHARSET.search(data[:4096]) if format_name == "html" else None
        rewrite = _by_format(format_name, replacer, filename, limits)
        result.write_bytes(rewritten(data, rewrite, declared=declared[1].decode() if declared else None))
    elif format_name in ("docx", "xlsx", "pptx"):
        rewrite_package(path, result, format_name, replacer, limits)
    else:
        raise parse_error("not_anonymised", format=format_name)
    return replacer.masking.replaced


def _by_format(format_name: str, replacer: Replacer, filename: str, limits: ParseLimits) -> Callable[[str], str]:
    if format_name == "html":
        return lambda text: replace_in_html(text, replacer)
    if format_name == "csv":
        return lambda text: replace_in_csv(text, replacer, filename=filename, limits=limits)
    return lambda text: replace_in_text(text, replacer)


def _check(path: Path, format_name: str, wanted: Anonymising, filename: str, limits: ParseLimits) -> None:
    """Look for what was left, in the text that search would have and in the file itself.

    :raises ParseError: ``left_in_clear``.
    """
    again = path.with_name("again")
    left = _rewrite(path, again, format_name, wanted, filename, limits)
    again.unlink()
    looking = Replacer(Anonymising(kinds=wanted.kinds)).masking
    kinds = {kind for text in _texts(path, format_name, filename, limits) for *_place, kind in looking.found(text)}
    left = left | dict.fromkeys(kinds, 1)
    if left:
        names = [text_of("personal_data", kind) for kind in counted_by_kind(left)]
        said = Text(ja="、".join(name.ja for name in names), en=", ".join(name.en for name in names))
        raise parse_error("left_in_clear", kinds=said)


def _texts(path: Path, format_name: str, filename: str, limits: ParseLimits) -> Iterator[str]:
    yield parse_file(path, filename=filename, limits=limits).markdown
    if format_name == "html":
        source = unescape(path.read_bytes().decode("utf-8", "replace"))
        yield from (source, unquote(source), _TAGS.sub("", source))
    try:
        yield from (writing.text for writing in read_writings(path))
    except UnreadableOriginal as error:
        raise parse_error("not_anonymised", format=format_name) from error
