"""Ten questions from the documents themselves, and what they find: the same before and after, or it is no restore."""

from __future__ import annotations

from dataclasses import dataclass

from hub.access.principals import system_principal
from hub.core.errors import HubError
from knowledge.models import Chunk
from knowledge.search import search
from knowledge.types.search import SearchMode, SearchQuery

QUESTIONS = 10
QUESTION_CHARS = 40
HITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A question and the passages it finds, best first: (chunk, document, begin, end, score to four digits)."""

    question: str
    mode: str
    hits: tuple[tuple[str, str, int, int, float], ...]


def ask_ten() -> tuple[Found, ...]:
    """Ask, by both legs and by words alone in turn, what passages spread over the index say. None without passages.

    :raises HubError: the search does not work. In the caller's transaction, and as it sees the database.
    """
    return tuple(find(question, mode) for question, mode in _questions())


def find(question: str, mode: str) -> Found:
    """Ask one question over everything that there is. Errors as `knowledge.search.search`."""
    query = SearchQuery(text=question, mode=SearchMode(mode), limit=HITS)
    result = search(system_principal("backup"), query)
    hits = tuple(
        (hit.chunk_id, hit.document_id, hit.start_offset, hit.end_offset, round(hit.score or 0.0, 4))
        for hit in result.hits
    )
    return Found(question=question, mode=mode, hits=hits)


def differing(before: tuple[Found, ...]) -> list[str]:
    """Ask again and list the questions that find something else now, or can't be asked."""
    changed = []
    for one in before:
        try:
            same = find(one.question, one.mode) == one
        except HubError as error:
            changed.append(f"{one.question}: {error}")
            continue
        if not same:
            changed.append(one.question)
    return changed


def _questions() -> list[tuple[str, str]]:
    chunks = Chunk.objects.order_by("pk")
    count = chunks.count()
    places = sorted({count * number // QUESTIONS for number in range(QUESTIONS)}) if count else []
    texts = [chunks.values_list("content", flat=True)[place] for place in places]
    questions = [" ".join(text.split())[:QUESTION_CHARS].replace('"', "") for text in texts]
    modes = (SearchMode.HYBRID.value, SearchMode.LEXICAL.value)
    return [(text, modes[number % 2]) for number, text in enumerate(questions) if text.strip()]
