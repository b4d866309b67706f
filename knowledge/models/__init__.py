"""The knowledge app's tables: documents and their state, chunks and their index, ontologies."""

from knowledge.models.documents import (
    Blob,
    Collection,
    CollectionGrant,
    DeletionReceipt,
    Document,
    DocumentStatus,
    DocumentType,
    DocumentVersion,
    VersionContent,
    WorkerHeartbeat,
)
from knowledge.models.index import (
    Chunk,
    ChunkPolicy,
    ChunkVector,
    EmbeddingSet,
    LexicalField,
    LexicalPosting,
    LexicalStatistics,
    LexicalTerm,
)
from knowledge.models.ontology import Ontology, OntologyClass, OntologyStatus

__all__ = [
    "Blob",
    "Chunk",
    "ChunkPolicy",
    "ChunkVector",
    "Collection",
    "CollectionGrant",
    "DeletionReceipt",
    "Document",
    "DocumentStatus",
    "DocumentType",
    "DocumentVersion",
    "EmbeddingSet",
    "LexicalField",
    "LexicalPosting",
    "LexicalStatistics",
    "LexicalTerm",
    "Ontology",
    "OntologyClass",
    "OntologyStatus",
    "VersionContent",
    "WorkerHeartbeat",
]
