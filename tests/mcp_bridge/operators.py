"""A process of its own that changes and tells what stands in the database, as the admin or a command would."""

from __future__ import annotations

import subprocess

OPERATOR = """
import datetime
import json
import sys
import django
django.setup()
from dataclasses import asdict
from django.contrib.auth.models import Group, User
from django.db import connection
from django.utils import timezone
from hub.access.models import AccessToken, Clearance
from hub.access.principals import Scope, local_operator
from hub.access.services import create_token, principal_for_user, revoke_token
from knowledge.models import Chunk, ChunkVector, Collection, CollectionGrant, Document
from mcp_bridge.connections import list_connections

def make(name):
    user, _made = User.objects.get_or_create(username=name)
    scopes = frozenset({Scope.READ})
    return create_token(principal=local_operator(), user=user, name=name, scopes=scopes)[1]

def widen(name):
    token = AccessToken.objects.get(name=name)
    token.scopes = ["read", "search"]
    token.save()

def revoke(name):
    revoke_token(principal=local_operator(), token_id=AccessToken.objects.get(name=name).pk)

def grant(name):
    collection = Collection.objects.get(slug="default")
    CollectionGrant.objects.create(collection=collection, user=User.objects.get(username=name))

def let_review(name):
    Clearance.objects.filter(user__username=name).delete()
    collection = Collection.objects.get(slug="default")
    CollectionGrant.objects.create(collection=collection, user=User.objects.get(username=name), role="reviewer")

def lower(name):
    Clearance.objects.update_or_create(user=User.objects.get(username=name), defaults={"ceiling": 1})

def forget_rights(name):
    Clearance.objects.filter(user__username=name).delete()
    CollectionGrant.objects.filter(user__username=name).delete()

def join(name):
    group, _made = Group.objects.get_or_create(name="reads-default")
    CollectionGrant.objects.get_or_create(collection=Collection.objects.get(slug="default"), group=group)
    User.objects.get(username=name).groups.add(group)

def leave(name):
    User.objects.get(username=name).groups.clear()

def deactivate(name):
    user = User.objects.get(username=name)
    user.is_active = False
    user.save(update_fields=["is_active"])

def withdraw(name):
    CollectionGrant.objects.get(user__username=name).delete()

def expired(name):
    token = make(name)
    AccessToken.objects.filter(name=name).update(expires_at=timezone.now() - datetime.timedelta(seconds=1))
    return token

def end_now(name):  # without a word on the bus, as tokens end by themselves
    now = timezone.now() - datetime.timedelta(seconds=1)
    return AccessToken.objects.filter(name=name).update(expires_at=now)

def classify_higher(document_id):  # without a word on the bus, either
    return Document.objects.filter(public_id=document_id).update(classification=3)

def connections(name):
    found = list_connections(principal_for_user(User.objects.get(username=name)))
    return json.dumps([{**asdict(one), "is_live": one.is_live} for one in found])

def forget_vectors(document_id):
    chunks = Chunk.objects.filter(version__document__public_id=document_id)
    return ChunkVector.objects.filter(chunk__in=chunks.values("pk")).delete()[0]

def database_connections(_name):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return cursor.fetchone()[0]

for line in sys.stdin:
    action, name = line.split()
    print(globals()[action](name) or "done", flush=True)
"""


class Operator:
    """Asks the process, a line for each change, and waits until it is made."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, action: str, name: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(action, name, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().strip()
        assert answer, "the operator's process failed"
        return answer
