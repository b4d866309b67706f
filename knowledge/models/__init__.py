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
    PageText,
    PendingBytes,
    SealedBlob,
    TypeGuess,
    VersionContent,
    WorkerHeartbeat,
)
from knowledge.models.edits import DocumentEdit
from knowledge.models.generations import ChangeKind, GenerationStatus, IndexChange, IndexGeneration
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
from knowledge.models.guidelines import ArticleSeverity, Guideline, GuidelineArticle, GuidelineEdition
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
from knowledge.models.keys import EndedKey
from knowledge.models.ontology import Ontology, OntologyClass, OntologyClassKind, OntologyProperty, OntologyPropertyKind
from knowledge.models.operation import OperationSample
from knowledge.models.questions import AskedQuestion, NoQuestionsKept, OwnerRequest, Rating
from knowledge.models.uploads import UploadBatch
from knowledge.models.views import DocumentView
