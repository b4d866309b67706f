"""The one Sudachi dictionary of a process, and a tokenizer of it for each thread."""

from __future__ import annotations

import threading
from functools import lru_cache

from sudachipy import Dictionary, Tokenizer

# SudachiPy refuses longer input: https://github.com/WorksApplications/sudachi.rs (MAX_LENGTH = u16::MAX / 4 * 3).
MAX_INPUT_BYTES = 49_149
# A character takes at most four bytes in UTF-8.
MAX_INPUT_CHARACTERS = MAX_INPUT_BYTES // 4

_local = threading.local()


def tokenizer() -> Tokenizer:
    """Return this thread's tokenizer. It refuses more than ``MAX_INPUT_BYTES`` at once.

    A tokenizer keeps the lattice of its last sentence, so threads must not share one.
    """
    if not hasattr(_local, "tokenizer"):
        _local.tokenizer = dictionary().tokenizer()
    found: Tokenizer = _local.tokenizer
    return found


@lru_cache(maxsize=1)
def dictionary() -> Dictionary:
    """Return the dictionary, read on first use."""
    return Dictionary(dict="core")
