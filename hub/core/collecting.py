"""How often Python looks for cycles of objects, where work makes many objects and hardly a cycle."""

from __future__ import annotations

import gc

# Looking after every 700 new objects, as Python does, took a tenth of reading a document and a quarter of a start.
WORK = (100_000, 20, 20)
# A request leaves 140 objects in cycles, its answer among them: so many requests' answers may wait as go into these.
# With Python's own numbers every fiftieth search looked at all objects of the process, for 100 to 300 ms.
REQUESTS = (5_000, 20, 20)


def collect_seldom(after: tuple[int, int, int] = WORK) -> None:
    """Look for cycles seldom, and never among what there is already, so that forked children share it."""
    gc.freeze()
    gc.set_threshold(*after)
