"""Embedding sets and the models behind them: which set is active, which chunks belong to a set, who embeds for it."""

from __future__ import annotations

import threading
from functools import cache, lru_cache

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from hub.core.database import prepared_cursor
from hub.core.errors import Unavailable
from hub.core.routing import read_connection
from knowledge.embedders import Embedder, create_embedder
from knowledge.index.outside import behind_the_door
from knowledge.index.vectors import create_index
from knowledge.models import ChunkPolicy, DocumentVersion, EmbeddingSet
from knowledge.types.chunks import ChunkOptions

# The active set's model, one that is being built, and one to go back to; a model takes up to 500 MB.
MODELS_KEPT = 3
# Source: none, any number that no other advisory lock of the hub uses (blobs use 60-bit numbers of their hashes).
_PUBLICATION_LOCK = -7_203
_making = threading.Lock()


class EmbedderMismatch(Unavailable):
    """The model that can be had now is not the one that made the stored vectors; they can't be compared."""

    code = "embedder_mismatch"
    retryable = False


def get_embedder() -> Embedder:
    """The embedder of the active set; one query. Raises EmbedderMismatch and EmbeddingError as `embedder_of` does."""
    return embedder_of(active_embedding_set())


def embedder_of(embedding_set: EmbeddingSet) -> Embedder:
    """The embedder whose vectors the set holds, kept for this process. Making it loads nothing; its first use does.

    :raises EmbedderMismatch: the set's backend and model give other vectors now than when it was made.
    :raises EmbeddingError: there is no such backend or model, or its package is not installed.
    """
    embedder = make_embedder(embedding_set.backend, embedding_set.model, embedding_set.base_url)
    if embedding_set.fingerprint != embedder.fingerprint:
        raise EmbedderMismatch(
            _(
                'The vectors of the embedding set "{name}" were made by another edition of {model} than the one that '
                "is installed. Install that one again, or build a new set: manage.py embedding_set create."
            ),
            name=embedding_set.name,
            model=f"{embedding_set.backend} {embedding_set.model}",
        )
    return embedder


def make_embedder(backend: str, model: str, base_url: str) -> Embedder:
    """Make an embedder, or give this process's own; empty texts mean the default model, and EMBEDDING_BASE_URL.

    The API key goes to EMBEDDING_BASE_URL alone, never to another address that a set names. Raises EmbeddingError.
    """
    with _making:  # threads that meet after a switch must not load the model once each
        return _make_embedder(backend, model, base_url)


@lru_cache(maxsize=MODELS_KEPT)
def _make_embedder(backend: str, model: str, base_url: str) -> Embedder:
    config = settings.CONFIG
    is_ours = base_url in {"", config.embedding_base_url}
    is_openai = backend == "openai"
    url = base_url or (config.embedding_base_url if is_openai else "")
    made = create_embedder(
        backend,
        model=model or None,
        cache_dir=settings.HUB_DATA_DIR / "models",
        base_url=url or None,
        api_key=(config.embedding_api_key or None) if is_ours else None,
        aws_region=config.aws_region,
        aws_profile=config.aws_profile or None,
    )
    return behind_the_door(made, backend, url)


def find_active_set(*, savepoint: str = "") -> EmbeddingSet | None:
    """The set that search uses, with its policy; None before the first document. One query.

    A ``savepoint`` of that name is set in the same message, as another one would cost a search 0.4 ms.
    """
    there = read_connection()
    with there.cursor() if savepoint else prepared_cursor(there.alias) as cursor:
        if savepoint:
            cursor.execute(f"SAVEPOINT {savepoint}; {_active_statement()}")
            cursor.nextset()
        else:
            cursor.execute(_active_statement())
        row = cursor.fetchone()
    if row is None:
        return None
    own, policy = ([field.attname for field in model._meta.concrete_fields] for model in (EmbeddingSet, ChunkPolicy))
    found = EmbeddingSet.from_db(there.alias, own, row[: len(own)])
    found.policy = ChunkPolicy.from_db(there.alias, policy, row[len(own) :])
    return found


@cache
def _active_statement() -> str:
    """The ORM's SQL for the query, which is before every search: writing it takes longer than all else about it."""
    rows = EmbeddingSet.objects.select_related("policy").filter(is_active=True)
    sql, params = rows.query.sql_with_params()
    if params:
        raise AssertionError(f"there has to be no parameter: {params}")
    return sql


def active_embedding_set() -> EmbeddingSet:
    """The set that search uses, with its policy; the first call on an empty database makes it. One query.

    The first set is of the configured EMBEDDING_BACKEND; from then on the active row decides. Raises EmbeddingError
    when that first one can't be made.
    """
    return find_active_set() or _make_first_set()


def policy_id_of(version: DocumentVersion, embedding_set: EmbeddingSet) -> int:
    """By which policy a version is cut for a set: its own if its uploader chose one, else the set's."""
    return version.policy_id if version.has_own_policy else embedding_set.policy_id


def chunks_of(embedding_set: EmbeddingSet) -> Q:
    """The condition that a chunk is one of those that a set searches; those of other policies are for other sets."""
    own = Q(version__has_own_policy=True, policy_id=F("version__policy_id"))
    return own | Q(version__has_own_policy=False, policy_id=embedding_set.policy_id)


def lock_publications(*, shared: bool) -> None:
    """Let either versions become current (shared) or a set be declared complete, until the transaction ends."""
    function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [_PUBLICATION_LOCK])


def _make_first_set() -> EmbeddingSet:
    config = settings.CONFIG
    base_url = config.embedding_base_url if config.embedding_backend == "openai" else ""
    embedder = make_embedder(config.embedding_backend, config.embedding_model, base_url)
    options = ChunkOptions(size=min(ChunkOptions().size, embedder.max_tokens))
    policy, _made = ChunkPolicy.objects.get_or_create(
        strategy=options.strategy, size=options.size, overlap=options.overlap, unit=options.unit
    )
    try:
        with transaction.atomic():
            embedding_set = EmbeddingSet.objects.create(
                name=f"{embedder.model} 1",
                backend=embedder.name,
                model=embedder.model,
                base_url=base_url,
                fingerprint=embedder.fingerprint,
                dimension=embedder.dimension,
                max_tokens=embedder.max_tokens,
                policy=policy,
                is_active=True,
            )
            create_index(embedding_set)
    except IntegrityError:  # another process was first
        return EmbeddingSet.objects.select_related("policy").get(is_active=True)
    return embedding_set
