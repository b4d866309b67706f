"""What /readyz and `doctor` ask of the app's parts: a check raises HubError when its part does not work."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext_lazy as _

from hub.core.errors import Unavailable
from knowledge.embedders import EmbeddingError
from knowledge.index.active_embedder import active_embedding_set, get_embedder
from knowledge.storage import get_blob_store


class ModelUnavailable(Unavailable):
    """The embedding model can't be used."""

    code = "model_unavailable"


def check_storage() -> None:
    """Raise StorageUnavailable when documents can't be stored."""
    get_blob_store().check()


def check_model() -> None:
    """Raise when the configured embedder does not load, or is not the one that made the stored vectors."""
    active_embedding_set()
    try:
        get_embedder().count_tokens("準備")
    except EmbeddingError as error:
        raise ModelUnavailable(_("The embedding model can't be used: {reason}"), reason=str(error)) from error


READINESS_CHECKS: tuple[tuple[str, Callable[[], None]], ...] = (("storage", check_storage), ("model", check_model))
