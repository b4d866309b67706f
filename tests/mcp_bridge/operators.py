"""A process of its own that changes rights, as the admin or a command would."""

from __future__ import annotations

import subprocess

OPERATOR = """
import sys
import django
django.setup()
from django.contrib.auth.models import User
from hub.access.models import AccessToken
from hub.access.principals import Scope, local_operator
from hub.access.services import create_token, revoke_token
from knowledge.models import Collection, CollectionGrant

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

def withdraw(name):
    CollectionGrant.objects.get(user__username=name).delete()

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
