"""Formats that markitdown turns into Markdown for us: epub and Jupyter notebooks."""

from __future__ import annotations

from pathlib import Path

from markitdown import MarkItDown, MarkItDownException, StreamInfo

from knowledge.parsers.detect import detect_format
from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.markdown import markdown_blocks
from knowledge.parsers.render import clean_text
from knowledge.types.documents import ParsedDocument


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Convert a local stream; markitdown is given no address and no plugins.

    :raises ParseError: ``corrupted`` or ``empty_file``.
    """
    format_name = detect_format(path, filename=filename)
    converter = MarkItDown(enable_plugins=False)
    try:
        with path.open("rb") as stream:
            info = StreamInfo(extension=f".{format_name}", filename=filename)
            result = converter.convert_stream(stream, stream_info=info)
    except (MarkItDownException, KeyError, ValueError, OSError) as error:
        raise corrupted(format_name, type(error).__name__) from error
    markdown = clean_text(result.markdown) + "\n"
    if not markdown.strip():
        raise parse_error("empty_file")
    return ParsedDocument(
        format=format_name, markdown=markdown, blocks=markdown_blocks(markdown), title=result.title or None
    )
