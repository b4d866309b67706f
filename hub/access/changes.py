"""Says on the event bus that rights have changed; whose and which, each listener looks up for itself."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_delete, post_save

from hub.access.models import AccessToken
from hub.core import bus

TOPIC = "access:rights"
UNRELATED = frozenset({"last_login", "last_used_at"})


def announce(**_signal: object) -> None:
    """Publish it when the running transaction is committed. Where no bus runs nobody listens, and none is started."""
    transaction.on_commit(partial(bus.publish, TOPIC, {}, wake=False))


def watch(*models: type[Model]) -> None:
    """Announce each change and deletion of a row of these models, and each new one. Repeatable."""
    for model in models:
        post_save.connect(_saved, sender=model, dispatch_uid=f"access-saved-{model.__name__}")
        post_delete.connect(announce, sender=model, dispatch_uid=f"access-removed-{model.__name__}")


def watch_groups() -> None:
    """Announce who enters or leaves a group. Repeatable."""
    m2m_changed.connect(_regrouped, sender=User.groups.through, dispatch_uid="access-regrouped")


def _saved(*, sender: type[Model], created: bool, update_fields: frozenset[str] | None, **_signal: object) -> None:
    is_nobody_yet = created and sender in (User, AccessToken)
    if not is_nobody_yet and (update_fields is None or not update_fields <= UNRELATED):
        announce()


def _regrouped(*, action: str, **_signal: object) -> None:
    if action.startswith("post_"):
        announce()
