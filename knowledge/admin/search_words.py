"""How a search came about, in words that people read: the explanation of search as the page shows it."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from knowledge.admin.search_form import MODES
from knowledge.types.search import Explanation, SearchResult

LEGS = {
    "vector": gettext_lazy("by meaning"),
    "lexical": gettext_lazy("by words"),
    "reranker": gettext_lazy("reranker"),
}
STEPS = {
    "phrases": gettext_lazy("quoted phrases"),
    "embed": gettext_lazy("embedding of the question"),
    "vector": gettext_lazy("search by meaning"),
    "lexical": gettext_lazy("search by words"),
    "fuse": gettext_lazy("fusion and score"),
    "rerank": gettext_lazy("reranker"),
    "load": gettext_lazy("loading the passages"),
    "total": gettext_lazy("total"),
}

# The plans as search names them; one that is not here is shown as it stands.
PLANS = (
    gettext_noop("exact over up to 10000 permitted passages"),
    gettext_noop("HNSW, iterative scan"),
    gettext_noop("all permitted passages"),
    gettext_noop("best passages first, then permissions"),
)


def leg_name(leg: str) -> str | Promise:
    """Give the name of a leg that people read; one that has none is shown as it stands."""
    return LEGS.get(leg, leg)


def told_explanation(result: SearchResult) -> dict[str, Any] | None:
    """Turn an explanation into names and values for the page; None where none was asked for or nothing was searched.

    ``timings`` are (step, milliseconds, share of the longest in percent), the total last.
    """
    told = result.explanation
    if told is None:
        return None
    return {
        "facts": _facts(told),
        "legs": [(leg_name(leg), told.candidates.get(leg, 0), _(plan)) for leg, plan in told.plans.items()],
        "words": sorted(told.words.items(), key=lambda pair: (-pair[1], pair[0])),
        "bigrams": sorted(told.bigrams.items(), key=lambda pair: (-pair[1], pair[0])),
        "timings": _timings(result),
    }


def _facts(told: Explanation) -> list[tuple[str, str]]:
    permitted = _("more than 10,000") if told.permitted is None else str(told.permitted)
    facts = [
        (_("Mode that answered"), str(dict(MODES).get(told.mode, told.mode))),
        (_("Embedding set"), told.embedding_set),
        (_("Passages that may answer"), permitted),
        (_("Codes looked for"), ", ".join(told.codes)),
        (_("Quoted phrases"), ", ".join(told.phrases)),
        (_("Filters"), "; ".join(f"{name}: {_value(value)}" for name, value in told.filters.items())),
    ]
    return [(name, value) for name, value in facts if value]


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _timings(result: SearchResult) -> list[tuple[str, float, int]]:
    steps = sorted(result.timings_ms.items(), key=lambda pair: pair[1])
    longest = max((spent for _name, spent in steps), default=0) or 1
    return [(str(STEPS.get(name, name)), spent, round(100 * spent / longest)) for name, spent in steps]
