"""The search of the hub server: the best first, and of each passage what the question names and where it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from hub.access.principals import Scope
from knowledge.search import search_filter
from knowledge.types.search import SearchDetail, SearchMode, SearchOrder, SearchQuery, SearchSource
from mcp_bridge.server import HubTool, hub_tool
from mcp_bridge.servers.rag import ANY, PerDocument, find_passages
from mcp_bridge.servers.schemas import Collection, Cursor, FilterIn, Mode, Query, SearchResult

# Characters of a passage that are shown; a shorter one is shown whole.
SHOWN = 400
END_OF_SENTENCE = re.compile(r"(?<=[。．！？!?])|(?<=[.] )|(?<=\n)")
PLACE = ("chunk_id", "document_id", "title", "collection", "section_path", "page", "cell", "score")


def search(
    query: Query,
    limit: Annotated[int, Field(ge=1, le=100, description="passages, their neighbours not counted")] = 5,
    collection: Collection = "",
    filter: FilterIn = ANY,
    order: Annotated[SearchOrder, Field(description="document: by path and place, to read on")] = SearchOrder.RELEVANCE,
    mode: Mode = SearchMode.HYBRID,
    threshold: Annotated[float, Field(ge=0, le=1, description="leave out scores below it")] = 0.0,
    per_document: PerDocument = None,
    with_context: Annotated[bool, Field(description="also the passages around each hit (is_context)")] = False,
    context_size: Annotated[int, Field(ge=0, le=5, description="neighbours on each side")] = 1,
    full_document: Annotated[bool, Field(description="whole documents instead")] = False,
    detail: Annotated[
        Literal["brief", "full", "highlights", "scores", "explain"],
        Field(
            description="full: whole passages and all that is known of them; highlights, scores, explain: also spans, "
            "ranks, the plan"
        ),
    ] = "brief",
    source: Annotated[
        SearchSource, Field(description="bedrock: the Amazon Bedrock knowledge base; all: both")
    ] = SearchSource.LOCAL,
    cursor: Cursor = None,
) -> SearchResult:
    """Search inside the documents (文書検索): passages with document, section, page or cell, the best first.

    Use it to find where something is written (記載箇所、どの文書・章・ページにあるか), and to answer from the
    documents: content is verbatim, quote it. best names the best passage; score (0 to 1, calibrated; 0.7: good
    evidence) tells how well each answers. Quote a phrase with 「」 to see only passages that have it as it stands; a
    code such as FR-001 or 第3条 is found exactly. To compare documents (比較) set per_document. Read notices.
    get_section reads on where a passage is too short.
    """
    wanted = SearchDetail.HIGHLIGHTS if detail == "brief" else SearchDetail.NONE
    asked = SearchQuery(
        text=query,
        mode=mode,
        limit=limit,
        threshold=threshold,
        filter=search_filter(filter, collection),
        with_context=with_context,
        context_size=context_size,
        full_document=full_document,
        order=order,
        detail=wanted if detail in ("brief", "full") else SearchDetail(detail),
        per_document=per_document,
    )
    return find_passages("mcp.search", asked, cursor, source)


def passages_in_brief(found: Mapping[str, Any]) -> dict[str, Any]:
    """Of each passage its place, its score and what is named of it, verbatim; then the notices."""
    facts = {name: found[name] for name in ("best", "total_found")}
    rows = [_in_brief(hit) for hit in found["results"]]
    return {**facts, "results": rows, "notices": found["notices"], "next_cursor": found["next_cursor"]}


def _in_brief(hit: Mapping[str, Any]) -> dict[str, Any]:
    place = {name: hit[name] for name in PLACE if hit.get(name) not in (None, [], "")}
    marks = {name: True for name in ("is_context", "is_full_document") if hit.get(name)}
    if hit["source"] != "local":
        place |= {"source": hit["source"], "document_path": hit["document_path"], "source_score": hit["source_score"]}
    content, start = hit["content"], hit["start_offset"]
    if hit.get("is_full_document"):
        begin, end = 0, len(content)
    else:
        begin, end = part_shown(content, hit.get("highlights") or ())
    if start is not None:
        place |= {"start_offset": start + begin, "end_offset": start + end}
    return {**place, **marks, "content": content[begin:end]}


def part_shown(content: str, highlights: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Start and end of the whole sentences and lines, SHOWN characters or one sentence, that name most."""
    if len(content) <= SHOWN:
        return 0, len(content)
    cuts = [0, *(found.start() for found in END_OF_SENTENCE.finditer(content)), len(content)]
    starts = sorted(set(cuts))[:-1]
    best = (-1, 0, 0)
    for index, start in enumerate(starts):
        ends = [end for end in sorted(set(cuts)) if start < end <= start + SHOWN]
        end = ends[-1] if ends else (starts[index + 1] if index + 1 < len(starts) else len(content))
        end = min(end, start + SHOWN)
        named = len({content[one[0] : one[1]] for one in highlights if start <= one[0] and one[1] <= end})
        if named > best[0]:
            best = (named, start, end)
    return best[1], best[2]


TOOL: HubTool = hub_tool(
    search,
    title="Search documents (文書検索)",
    scope=Scope.SEARCH,
    picture="search",
    in_brief=passages_in_brief,
)
