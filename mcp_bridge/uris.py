"""The resources by their URIs, and which of them an event of the hub is about."""

from __future__ import annotations

DOCUMENTS = "smartreviewer://documents/"
RESULTS = "smartreviewer://results/"
SCENARIOS = "smartreviewer://scenarios/"
CHECK_ITEMS = "smartreviewer://check-items"
CONFIG = "smartreviewer://config"
GRAPH_SCHEMA = "smartreviewer-knowledge://graph/schema"
EMBEDDINGS = "smartreviewer-rag://embeddings/"
CHUNKS = "smartreviewer-rag://chunks/"
GUIDELINES = "smartreviewer-knowledge://guidelines/"
ONTOLOGIES = "smartreviewer-knowledge://ontology/"

# Event topics look like document:doc_…; the id is that of the resources too.
OF_TOPIC: dict[str, tuple[str, ...]] = {
    "document": (DOCUMENTS, CHUNKS, EMBEDDINGS),
    "review": (RESULTS,),
    "access": (),
}
PROMPTS_TOPIC = "prompts:changed"  # somebody published the text of a prompt
CHANGES_LISTS = frozenset({"document", "access"})
