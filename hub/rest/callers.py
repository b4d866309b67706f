"""Who makes a request, as far as that is known before anything of it is read: for sharing out what requests use."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from django.conf import settings
from django.http import HttpRequest

from hub.access.principals import Principal
from hub.access.turns import caller_name
from hub.core.client_address import address_of
from hub.rest.problems import is_api_call

MOST_KNOWN = 10_000


class KnownCallers:
    """The people behind the tokens and sessions that were accepted in this process, the latest ``most``.

    What was never accepted counts as its address. A token is kept as its digest alone. No permission rests on this.
    Safe for several threads.
    """

    def __init__(self, most: int = MOST_KNOWN) -> None:
        self._most = most
        self._known: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()

    def name_of(self, request: HttpRequest) -> str:
        """Name the person, or the address of a stranger; without a query."""
        with self._lock:
            known = self._known.get(_digest(request))
        return known or f"address:{address_of(request.META.get('REMOTE_ADDR'))}"

    def note(self, request: HttpRequest) -> None:
        """Remember who a request that was answered came from, where that was found out."""
        name = known_caller(request)
        if name is None:
            return
        with self._lock:
            digest = _digest(request)
            self._known[digest] = name
            self._known.move_to_end(digest)
            if len(self._known) > self._most:
                self._known.popitem(last=False)


def _digest(request: HttpRequest) -> bytes:
    credential = (
        request.META.get("HTTP_AUTHORIZATION", "")
        if is_api_call(request)
        else request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    )
    return hashlib.sha256(credential.encode("utf-8", "surrogateescape")).digest()


def known_caller(request: HttpRequest) -> str | None:
    """Name the person whose token or session was accepted for a request; None for strangers. Without a query."""
    principal: Principal | None = getattr(request, "principal", None)
    if principal is not None:
        return caller_name(principal)
    user = getattr(request, "_cached_user", None)  # read by nobody else, it would cost a query here
    return f"user:{user.pk}" if user is not None and user.is_authenticated and not is_api_call(request) else None
