"""The knowledge app's tables: documents and their state, chunks and their index, ontologies, the graph."""

from knowledge.models.collections import Collection, CollectionGrant, FormerSlug, Source
from knowledge.models.documents import (
    Blob,
    DeletionReceipt,
    Document,
    DocumentStatus,
    DocumentType,
    DocumentVersion,
    Figure,
    PendingBytes,
    VersionContent,
    WorkerHeartbeat,
)
from knowledge.models.graph import (
    ContributionKind,
    DocumentGraph,
    EdgeEnds,
    EdgeType,
    GraphContribution,
    GraphEdge,
    GraphMaster,
    GraphNode,
    GraphRemoval,
    GraphRevision,
    IdentifierPattern,
    NodeType,
)
from knowledge.models.guidelines import (
    ArticleSeverity,
    Guideline,
    GuidelineArticle,
    GuidelineEdition,
)
from knowledge.models.index import (
    Chunk,
    ChunkPolicy,
    ChunkVector,
    EmbeddingSet,
    EmbeddingSetStatus,
    LexicalEntry,
    LexicalField,
    LexicalPosting,
    LexicalSegment,
    LexicalStatistics,
    LexicalTerm,
)
from knowledge.models.ontology import (
    Ontology,
    OntologyClass,
    OntologyClassKind,
    OntologyProperty,
    OntologyPropertyKind,
)

__all__ = ["Collection", "CollectionGrant", "FormerSlug", "Source"]
__all__ += ["Blob", "DeletionReceipt", "Document", "DocumentStatus", "DocumentType", "DocumentVersion", "Figure"]
__all__ += ["PendingBytes", "VersionContent", "WorkerHeartbeat"]
__all__ += ["ContributionKind", "DocumentGraph", "EdgeEnds", "EdgeType", "GraphContribution", "GraphEdge"]
__all__ += ["GraphMaster", "GraphNode", "GraphRemoval", "GraphRevision", "IdentifierPattern", "NodeType"]
__all__ += ["ArticleSeverity", "Guideline", "GuidelineArticle", "GuidelineEdition"]
__all__ += ["Chunk", "ChunkPolicy", "ChunkVector", "EmbeddingSet", "EmbeddingSetStatus", "LexicalEntry", "LexicalField"]
__all__ += ["LexicalPosting", "LexicalSegment", "LexicalStatistics", "LexicalTerm"]
__all__ += ["Ontology", "OntologyClass", "OntologyClassKind", "OntologyProperty", "OntologyPropertyKind"]
