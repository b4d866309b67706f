"""Reading the packed index as rows, for tests."""

from __future__ import annotations

from knowledge.index.segments import unpack
from knowledge.models import LexicalEntry, LexicalPosting


def posting_rows() -> set[tuple[int, str, str, int, int]]:
    """Every posting of a chunk that is in the index: (field, term, chunk's public id, tf, length)."""
    names = dict(LexicalEntry.objects.values_list("ordinal", "chunk__public_id"))
    rows = set()
    for field, text, packed in LexicalPosting.objects.values_list("term__field", "term__text", "packed"):
        for ordinal, tf, length in unpack(bytes(packed)).tolist():
            if ordinal in names:
                rows.add((field, text, names[ordinal], tf, length))
    return rows


def dead_postings() -> int:
    """How many postings are left of chunks that are not in the index any more."""
    names = set(LexicalEntry.objects.values_list("ordinal", flat=True))
    packed = LexicalPosting.objects.values_list("packed", flat=True)
    return sum(ordinal not in names for one in packed for ordinal in unpack(bytes(one))["ordinal"].tolist())
