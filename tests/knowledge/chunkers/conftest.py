from __future__ import annotations

from knowledge.types.chunks import ChunkOptions, ChunkSpan, SizeUnit
from knowledge.types.documents import Block


def count_tokens(text: str) -> int:
    """Count roughly as a multilingual tokenizer does, with four tokens for prefix and specials."""
    return len(text) // 2 + 4


def assert_chunks(markdown: str, blocks: tuple[Block, ...], chunks: list[ChunkSpan], options: ChunkOptions) -> None:
    """Check what holds for all chunks of every strategy."""
    covered = bytearray(len(markdown))
    for index, chunk in enumerate(chunks):
        content = markdown[chunk.start : chunk.end]
        assert chunk.index == index
        assert content
        assert content == content.strip()
        assert chunk.token_count == count_tokens(chunk.context_prefix + content)
        size = chunk.token_count if options.unit is SizeUnit.TOKENS else len(chunk.context_prefix + content)
        assert size <= options.size
        covered[chunk.start : chunk.end] = b"\x01" * (chunk.end - chunk.start)
    assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})
    for block in blocks:
        missing = [i for i in range(block.start, block.end) if not covered[i] and not markdown[i].isspace()]
        assert not missing, markdown[block.start : block.end]
