"""How often Python looks for cycles of objects, where work makes many objects and hardly a cycle."""

from __future__ import annotations

import gc

# Looking after every 700 new objects, as Python does, took a tenth of reading a document.
COLLECT_AFTER = (100_000, 20, 20)


def collect_seldom() -> None:
    """Look for cycles seldom, and never among what there is already, so that forked children share it."""
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
