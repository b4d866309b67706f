"""The knowledge graph: what it is about, how things are connected, and what says so.

A node or an edge lives for as long as a contribution supports it; its name and properties are those of its best
contribution (``knowledge.graph.contribute``), never written on their own.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import RegexValidator
from django.db import connection, models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Classification, Principal, Scope
from hub.core.bounds import WithinJsonLimits, largest_json
from hub.core.given_fields import GivenList, most_items
from hub.core.languages import in_language
from knowledge.models.collections import Collection
from knowledge.models.documents import Document, DocumentVersion
from knowledge.types.graph import Edge

LABEL = RegexValidator(r"^[A-Za-z][A-Za-z0-9_]{0,39}\Z", _("1 to 40 ASCII letters, digits and _, a letter first."))


class NodeType(models.Model):
    """A kind of node. ``code`` is its label in queries; the names and ``aliases`` are accepted in its place."""

    code = models.CharField(_("code"), max_length=40, primary_key=True, validators=[LABEL])
    name_ja = models.CharField(_("name (ja)"), max_length=100)
    name_en = models.CharField(_("name (en)"), max_length=100)
    aliases = GivenList(models.CharField(max_length=100), default=list, blank=True, verbose_name=_("aliases"))
    color = models.CharField(
        _("colour"),
        max_length=7,
        default="#64748b",
        validators=[RegexValidator(r"^#[0-9a-fA-F]{6}\Z", _("Six hexadecimal digits after #."))],
    )

    class Meta:
        verbose_name = _("node type")
        verbose_name_plural = _("node types")
        ordering = ["code"]
        constraints = [
            most_items("aliases"),
        ]

    def __str__(self) -> str:
        return in_language(self.name_ja, self.name_en)


class EdgeType(models.Model):
    """A kind of relation, and through :class:`EdgeEnds` which types of nodes it joins."""

    code = models.CharField(_("code"), max_length=40, primary_key=True, validators=[LABEL])
    name_ja = models.CharField(_("name (ja)"), max_length=100)
    name_en = models.CharField(_("name (en)"), max_length=100)

    class Meta:
        verbose_name = _("edge type")
        verbose_name_plural = _("edge types")
        ordering = ["code"]

    def __str__(self) -> str:
        return in_language(self.name_ja, self.name_en)


class EdgeEnds(models.Model):
    """A pair of node types that an edge type may join, from source to target."""

    edge_type = models.ForeignKey(EdgeType, on_delete=models.CASCADE, related_name="ends", verbose_name=_("edge type"))
    source = models.ForeignKey(NodeType, on_delete=models.CASCADE, related_name="+", verbose_name=_("from"))
    target = models.ForeignKey(NodeType, on_delete=models.CASCADE, related_name="+", verbose_name=_("to"))

    class Meta:
        verbose_name = _("joined types")
        verbose_name_plural = _("joined types")
        ordering = ["edge_type", "source", "target"]
        constraints = [models.UniqueConstraint(fields=["edge_type", "source", "target"], name="one_pair_per_edge_type")]

    def __str__(self) -> str:
        return f"({self.source_id})-[{self.edge_type_id}]->({self.target_id})"


class IdentifierPattern(models.Model):
    """Identifiers of a shape of one's own (要件ID): a regular expression, and the type of what it names."""

    pattern = models.CharField(_("regular expression"), max_length=200, unique=True)
    node_type = models.ForeignKey(
        NodeType, on_delete=models.CASCADE, related_name="+", default="Requirement", verbose_name=_("node type")
    )
    is_active = models.BooleanField(_("active"), default=True)
    note = models.CharField(_("note"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("identifier pattern")
        verbose_name_plural = _("identifier patterns")
        ordering = ["pattern"]

    def __str__(self) -> str:
        return self.pattern


_BETWEEN = """
WITH node (id, public_id) AS ({nodes})
SELECT source.public_id, edge.type_id, target.public_id FROM knowledge_graphedge AS edge
JOIN node AS source ON source.id = edge.source_id JOIN node AS target ON target.id = edge.target_id
WHERE edge.classification <= %s
"""


class GraphNodeQuerySet(models.QuerySet["GraphNode"]):
    def visible_to(self, principal: Principal, scope: Scope = Scope.READ) -> GraphNodeQuerySet:
        """Keep the nodes of everybody's masters, and of the collections where the caller may do what ``scope`` says."""
        collections = Collection.objects.visible_to(principal, scope).values("pk")
        mine = Q(collection__isnull=True) | Q(collection__in=collections)
        return self.filter(mine, classification__lte=principal.ceiling) if principal.allows(scope) else self.none()


class GraphEdgeQuerySet(models.QuerySet["GraphEdge"]):
    def visible_to(self, principal: Principal, scope: Scope = Scope.READ) -> GraphEdgeQuerySet:
        """Keep the edges that the caller may know of and both of whose ends they may see."""
        nodes = GraphNode.objects.visible_to(principal, scope).values("pk")
        return self.filter(classification__lte=principal.ceiling, source__in=nodes, target__in=nodes)

    def visible_between(self, principal: Principal, nodes: AbstractSet[str], scope: Scope = Scope.READ) -> set[Edge]:
        """Return the edges that ``visible_to`` keeps between nodes with these ids. One query.

        Written as SQL around the nodes' own ``visible_to``: Django takes three times as long to put both ends together.
        """
        if not nodes or not principal.allows(scope):
            return set()
        seen = GraphNode.objects.visible_to(principal, scope).filter(public_id__in=list(nodes)).order_by()
        sql, params = seen.values_list("pk", "public_id").query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(_BETWEEN.format(nodes=sql), [*params, principal.ceiling])
            return set(cursor.fetchall())


class GraphNode(models.Model):
    """A thing, in one collection or (without one) in everybody's masters.

    ``keys`` are its name, code and aliases as they are compared (:func:`knowledge.graph.reading.name_key`).
    ``classification`` is the lowest of its contributions: who may see one of them may see the node, and no more of it
    than that one says. ``revision`` is the collection's when the node last changed.
    """

    public_id = models.CharField(_("id"), max_length=60, unique=True, editable=False)
    type = models.ForeignKey(NodeType, on_delete=models.PROTECT, related_name="+", verbose_name=_("type"))
    collection = models.ForeignKey(
        Collection,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="graph_nodes",
        verbose_name=_("collection"),
    )
    key = models.CharField(max_length=300, editable=False)
    name = models.CharField(_("name"), max_length=500)
    code = models.CharField(_("code"), max_length=100, blank=True)
    aliases = ArrayField(models.CharField(max_length=300), default=list, blank=True, verbose_name=_("aliases"))
    keys = ArrayField(models.CharField(max_length=500), default=list, editable=False)
    properties = models.JSONField(_("properties"), default=dict, blank=True, validators=[WithinJsonLimits()])
    classification = models.PositiveSmallIntegerField(
        _("classification"), choices=Classification.choices, default=Classification.C1, editable=False
    )
    revision = models.BigIntegerField(default=0, editable=False)

    objects = GraphNodeQuerySet.as_manager()

    class Meta:
        verbose_name = _("graph node")
        verbose_name_plural = _("graph nodes")
        ordering = ["-id"]
        indexes = [
            GinIndex(fields=["keys"], name="graph_node_by_key"),
            models.Index(fields=["collection", "type", "key"], name="graph_node_by_place"),
            models.Index(fields=["collection", "revision"], name="graph_node_changes"),
            models.Index(fields=["type", "-id"], name="graph_node_by_type"),
        ]

    def __str__(self) -> str:
        return self.name


class GraphEdge(models.Model):
    """A relation of two nodes. Its ``collection`` is that of an end that has one, if any."""

    type = models.ForeignKey(EdgeType, on_delete=models.PROTECT, related_name="+", verbose_name=_("type"))
    source = models.ForeignKey(GraphNode, on_delete=models.CASCADE, related_name="outgoing", verbose_name=_("from"))
    target = models.ForeignKey(GraphNode, on_delete=models.CASCADE, related_name="incoming", verbose_name=_("to"))
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, null=True, editable=False, related_name="+")
    properties = models.JSONField(_("properties"), default=dict, blank=True, validators=[WithinJsonLimits()])
    classification = models.PositiveSmallIntegerField(
        choices=Classification.choices, default=Classification.C1, editable=False
    )
    revision = models.BigIntegerField(default=0, editable=False)

    objects = GraphEdgeQuerySet.as_manager()

    class Meta:
        verbose_name = _("graph edge")
        verbose_name_plural = _("graph edges")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["source", "type", "target"], name="one_edge_per_ends_and_type")]
        indexes = [
            models.Index(fields=["source", "type"], include=["target", "classification"], name="graph_edge_forward"),
            models.Index(fields=["target", "type"], include=["source", "classification"], name="graph_edge_backward"),
            models.Index(fields=["collection", "revision"], name="graph_edge_changes"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} -{self.type_id}-> {self.target_id}"


class ContributionKind(models.TextChoices):
    DOCUMENT = "document", _("document")
    MASTER = "master", _("master")
    CURATOR = "curator", _("curator")


class GraphContribution(models.Model):
    """What says that a node or an edge is there: a place in a document's version, a master, or a curator.

    ``facts`` is what it says of it: name, code, aliases and properties. Exactly one of ``node`` and ``edge`` is set,
    and ``version`` for documents only, with the span ``[start, end)`` of its Markdown where there is one.
    """

    node = models.ForeignKey(GraphNode, on_delete=models.CASCADE, null=True, related_name="contributions")
    edge = models.ForeignKey(GraphEdge, on_delete=models.CASCADE, null=True, related_name="contributions")
    kind = models.CharField(_("kind"), max_length=10, choices=ContributionKind.choices)
    source = models.CharField(_("master or curator"), max_length=150, blank=True)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, null=True, related_name="graph_contributions")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, null=True, related_name="+")
    classification = models.PositiveSmallIntegerField(choices=Classification.choices, default=Classification.C1)
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    rank = models.PositiveSmallIntegerField(default=0)
    facts = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("graph contribution")
        verbose_name_plural = _("graph contributions")
        constraints = [
            models.CheckConstraint(
                condition=Q(node__isnull=False, edge__isnull=True) | Q(node__isnull=True, edge__isnull=False),
                name="contribution_supports_one_thing",
            ),
            models.CheckConstraint(
                condition=~Q(kind="document") | Q(document__isnull=False, version__isnull=False),
                name="contribution_of_a_document_has_one",
            ),
            largest_json("facts", unless=~Q(kind="curator")),
        ]
        indexes = [
            models.Index(fields=["kind", "source"], name="contribution_by_source", condition=~Q(kind="document"))
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.source or self.version_id}"


class DocumentGraph(models.Model):
    """What of a document is in the graph: the version, the state of the document, and the rules it was read by.

    Where one of them differs from what is now, the document is due; see ``knowledge.ingest.graph``.
    """

    document = models.OneToOneField(Document, on_delete=models.CASCADE, primary_key=True, related_name="graph")
    version = models.ForeignKey(DocumentVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    document_updated_at = models.DateTimeField(null=True)
    rules = models.CharField(max_length=32, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(default=timezone.now)
    error = models.CharField(_("error"), max_length=300, blank=True)

    def __str__(self) -> str:
        return str(self.document_id)


class GraphMaster(models.Model):
    """A master that contributed, and a fingerprint of what it said."""

    name = models.CharField(max_length=60, primary_key=True)
    fingerprint = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return self.name


class GraphRevision(models.Model):
    """How often a space of the graph changed: a collection's, or with 0 the masters'. Locked while it is changed."""

    space = models.BigIntegerField(primary_key=True)
    number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.space}: {self.number}"


class GraphRemoval(models.Model):
    """A node or an edge that went, for copies of the graph that keep up with it; kept for a day."""

    space = models.BigIntegerField()
    revision = models.BigIntegerField()
    node_id = models.CharField(max_length=60, blank=True)
    source_id = models.CharField(max_length=60, blank=True)
    target_id = models.CharField(max_length=60, blank=True)
    edge_type = models.CharField(max_length=40, blank=True)
    removed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["space", "revision"], name="graph_removals")]

    def __str__(self) -> str:
        return self.node_id or f"{self.source_id} -{self.edge_type}-> {self.target_id}"
