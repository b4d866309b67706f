"""What is asked of the hub's REST API with its documents in it. Each function gives keys and answers of one kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.golden.fill import DESIGNS, Filled, Taken, chunks_of
from benchmarks.golden.rest import Answer

Answers = Iterator[tuple[str, Any]]
LANGUAGES = ("ja", "en")
MODES = ("lexical", "vector", "hybrid")
QUESTIONS = (
    "予約の取消はいつまでできるか", "性能の目標値", "監視と通報の手順", "バックアップの取得間隔", "障害時の切替え",
    "利用者の権限", "帳票の出力条件", "外部接続の方式", "テストの完了条件", "データの保存期間", "APIのエラー処理",
    "文字コードと外字", "住所の表記", "令和三年四月一日", "FR-001", "「データモデル」 日付",
    "ＡＰＩ key authentication", "What is the retention period?",
)  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "explained": {"detail": "explain"},
    "threshold": {"threshold": 0.5, "detail": "scores"},
    "context": {"with_context": True, "context_size": 2, "limit": 3},
    "whole documents": {"full_document": True, "limit": 2},
    "in order": {"order": "document", "detail": "highlights"},
    "one per document": {"per_document": 1, "limit": 20},
    "designs": {"filter": {"collection": DESIGNS}, "limit": 30},
    "plans": {"filter": {"document_type": ["test_plan", "requirements"]}},
    "section": {"filter": {"section_path": "3"}},
    "English": {"filter": {"language": "en"}},
}
PIECE = 5000
REPORTS = ("json", "markdown", "html", "xlsx", "docx")
RELATED = {"D1_": ("D2_",), "D5_": ("D4_",), "D4_": ("D5_",), "451-8_ad_order": ("451-1_ad_apply",)}
CYPHER = (
    "MATCH (n) RETURN labels(n) AS type, count(*) AS number ORDER BY type",
    "MATCH ()-[r]->() RETURN type(r) AS type, count(*) AS number ORDER BY type",
    "MATCH (d:Document)-[:HAS_SECTION]->(s:Section) RETURN d.name, s.name ORDER BY d.name, s.name LIMIT 500",
    "MATCH (r:Requirement) RETURN r.code, r.name ORDER BY r.code, r.name LIMIT 500",
    "MATCH (a)-[:TRACES_TO]->(b) RETURN a.name, b.name ORDER BY a.name, b.name LIMIT 500",
    "MATCH (a)-[:REFERENCES]->(b) RETURN a.name, b.name ORDER BY a.name, b.name LIMIT 500",
    "MATCH (c:CheckItem)-[r]->(g:GuidelineArticle) RETURN c.code, type(r), g.code ORDER BY c.code, g.code LIMIT 500",
    "MATCH (n) WHERE n.name CONTAINS '予約' RETURN n.name ORDER BY n.name LIMIT 50",
    "MATCH (n) RETURN m",
    "CREATE (n:Document) RETURN n",
)
# Types of nodes of which some serve as the start of walks.
STARTS = ("Document", "Section", "Requirement", "CheckItem", "GuidelineArticle", "Concept", "Table", "Figure")
WALKS: dict[str, dict[str, Any]] = {
    "near": {},
    "out": {"direction": "out", "max_depth": 3, "limit": 100},
    "in, by depth": {"direction": "in", "max_depth": 3, "traversal": "dfs"},
    "traces": {"relation_type": ["TRACES_TO", "REFERENCES", "VALIDATES"], "max_depth": 4},
}


def documents(hub: Filled) -> Answers:
    """What is said of each document, its text, its structure and its passages; the list as both people see it."""
    yield "list", list(hub.admin.pages("/documents", limit=200))
    yield "list, reader", list(hub.reader.pages("/documents", limit=200))
    for one in hub.documents:
        for part in ("", "/versions", "/structure", "/content"):
            yield f"{one.path}{part}", hub.admin.get(f"/documents/{one.document_id}{part}")
        yield f"{one.path}, reader", hub.reader.get(f"/documents/{one.document_id}")


def chunks(hub: Filled) -> Answers:
    """Each passage, and the neighbours of the first ones."""
    for one in hub.documents:
        for chunk in chunks_of(hub.admin, one):
            yield f"{one.path} {chunk['chunk_index']:05}", chunk
            if chunk["chunk_index"] == 1:
                path = f"/chunks/{chunk['chunk_id']}"
                yield f"{one.path} 00001 alone", hub.admin.get(path)
                yield f"{one.path} 00001 neighbours", hub.admin.get(f"{path}/neighbors", before=1, after=3)


def searches(hub: Filled) -> Answers:
    """Searches of the documents, as both people, in all modes and with every option; two pages of some."""
    for question in QUESTIONS:
        for mode in MODES:
            asked = {"query": question, "mode": mode, "detail": "scores"}
            yield f"{question} {mode}", hub.admin.post("/search", asked)
            yield f"{question} {mode}, reader", hub.reader.post("/search", asked)
        for name, options in VARIANTS.items():
            yield f"{question} {name}", hub.admin.post("/search", {"query": question, **options})
        first = hub.admin.post("/search", {"query": question, "limit": 5})["body"]
        if following := first.get("next_cursor"):
            further = {"query": question, "limit": 5, "cursor": following}
            yield f"{question} second page", hub.admin.post("/search", further)


def answers(hub: Filled) -> Answers:
    """Answers from the documents, as both people; no language model."""
    for question in QUESTIONS:
        yield question, hub.admin.post("/answer", {"query": question})
        yield f"{question}, reader", hub.reader.post("/answer", {"query": question, "limit": 10})


def lint(hub: Filled) -> Answers:
    """The text of each document in pieces, judged by all text rules, and by the usual ones as plain text."""
    listed = hub.admin.get("/rules")
    yield "rules", listed
    everything = [rule["id"] for rule in listed["body"]["rules"] if rule["applies_to"] == "text"]
    for one in hub.documents:
        text = _text(hub, one)
        for number, start in enumerate(range(0, len(text), PIECE), 1):
            piece = text[start : start + PIECE]
            key = f"{one.path} {number:04}"
            yield f"{key}, all rules", hub.admin.post("/lint", {"text": piece, "rules": everything})
            yield f"{key}, plain", hub.admin.post("/lint", {"text": piece, "format": "text"})


def _text(hub: Filled, document: Taken) -> str:
    answer = hub.admin.get(f"/documents/{document.document_id}/content")
    return bytes(answer["body"]).decode() if answer["status"] == 200 else ""


def masters(hub: Filled) -> Answers:
    """Check lists, check items, scenarios, prompts, and how they map to guidelines; in both languages."""
    lists = hub.admin.get("/checklists")["body"]
    paths = ["/check-items", "/checklists", "/scenarios", "/judge-prompts", "/guidelines/mappings"]
    paths += ["/guidelines/suspects", "/graph/schema", "/collections", "/embedding-sets"]
    for one in lists:
        paths += [f"/checklists/{one['code']}/{part}" for part in ("versions", "export.xlsx", "export.csv")]
    for code in (one["id"] for one in hub.admin.get("/scenarios")["body"]):
        paths.append(f"/scenarios/{code}")
    for path in paths:
        for language in LANGUAGES:
            yield f"{path} {language}", hub.admin.get(path, language)
    for one in lists:
        yield f"lint of {one['code']}", hub.admin.post(f"/checklists/{one['code']}/lint", {})


def guidelines(hub: Filled) -> Answers:
    """Guidelines with their articles, in both languages, and what changed between editions."""
    for language in LANGUAGES:
        listed = hub.admin.get("/guidelines", language)
        yield f"list {language}", listed
        for one in listed["body"]:
            code = one["code"]
            found = hub.admin.get(f"/guidelines/{code}/articles", language)
            yield f"{code} {language}", found
            yield f"{code} difference {language}", hub.admin.get(f"/guidelines/{code}/editions/1/diff", language)


def reviews(hub: Filled) -> Answers:
    """A review of each document by rules, some beside related ones, and its reports in every format and language."""
    for one in hub.documents:
        yield from _reviewed(hub, one, ())
        for part, others in RELATED.items():
            related = [found for other in others if (found := hub.called(other))]
            if part in one.path and related:
                yield from _reviewed(hub, one, related)


def _reviewed(hub: Filled, document: Taken, related: list[Taken] | tuple[()]) -> Answers:
    options: dict[str, Any] = {"judge": "rules", "parallel": False, "max_findings": 10_000}
    options["related_documents"] = [one.document_id for one in related]
    asked = {"document_id": document.document_id, "options": options}
    key = " beside ".join([document.path, *(one.path for one in related)])
    yield f"{key} estimate", hub.admin.post("/reviews/estimate", asked)
    started = hub.admin.post("/reviews", asked)
    if started["status"] != 202:
        yield f"{key} refused", started
        return
    number = started["body"]["review_id"]
    hub.names.learn(number, f"review {key}")
    review = hub.admin.get(f"/reviews/{number}")
    for position, finding in enumerate(review["body"]["findings"], 1):
        hub.names.learn(finding["id"], f"finding {position}")
    yield key, review
    yield f"{key} English", hub.admin.get(f"/reviews/{number}", "en")
    for report in REPORTS:
        for language in LANGUAGES:
            found = hub.admin.get(f"/reviews/{number}/report", format=report, language=language)
            yield f"{key} {report} {language}", found


def graph(hub: Filled) -> Answers:
    """Cypher as both people, and walks from some entities of every type."""
    for query in CYPHER:
        asked = {"cypher_query": query, "timeout_ms": 60_000}
        yield query, hub.admin.post("/graph/query", asked)
        yield f"{query}, reader", hub.reader.post("/graph/query", asked)
    for entity in _entities(hub):
        for name, options in WALKS.items():
            yield f"{entity} {name}", hub.admin.post("/graph/search", {"entity": entity, **options})
        yield f"{entity}, reader", hub.reader.post("/graph/search", {"entity": entity})


def _entities(hub: Filled) -> list[str]:
    """Names and codes of nodes, eight of each type, evenly taken from all in order."""
    chosen: dict[str, None] = {}
    for node_type in STARTS:
        query = f"MATCH (n:{node_type}) RETURN DISTINCT coalesce(n.code, n.name) AS name ORDER BY name"
        found = hub.admin.post("/graph/query", {"cypher_query": query, "row_limit": 5000})["body"]["records"]
        names = [str(row["name"]) for row in found]
        chosen.update(dict.fromkeys(name for name in names[:: max(1, len(names) // 8)] if name))
    return list(chosen)


def ontology(hub: Filled) -> Answers:
    """Ontologies in each format, what follows from them, and which of their topics documents treat."""
    listed = hub.admin.get("/ontologies")
    yield "list", listed
    domains = sorted({row["domain"] for row in listed["body"]["items"]})
    for domain in domains:
        for form in ("turtle", "rdfxml"):
            yield f"{domain} {form}", hub.admin.get(f"/ontologies/{domain}", format=form)
        yield f"{domain} jsonld", _in_order(hub.admin.get(f"/ontologies/{domain}", format="jsonld"))
        for kind in ("subclass", "property", "consistency"):
            yield f"{domain} {kind}", hub.admin.post(f"/ontologies/{domain}/reason", {"inference_type": kind})
        for one in hub.documents:
            yield from _coverage(hub, domain, one)


def _in_order(value: Any) -> Any:
    """JSON-LD with its lists sorted: rdflib writes them in the order of Python's hashes, other ones in each process."""
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return sorted(map(_in_order, value), key=lambda part: json.dumps(part, ensure_ascii=False, sort_keys=True))
    return value


def _coverage(hub: Filled, domain: str, document: Taken) -> Answers:
    for kind in ("coverage", "hierarchy", "required"):
        asked = {"document_id": document.document_id, "check_type": kind}
        yield f"{domain} {kind} {document.path}", hub.admin.post(f"/ontologies/{domain}/coverage", asked)


def openapi(hub: Filled) -> Answers:
    """The OpenAPI document, operation by operation and schema by schema."""
    found: Answer = hub.admin.get("/openapi.json")
    document = found["body"]
    for path, operations in document.pop("paths").items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", operation
    for name, schema in document["components"].pop("schemas").items():
        yield f"schema {name}", schema
    yield "the rest", document
