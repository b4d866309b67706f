"""Who a call from this machine's command line is: the local operator, or the owner of a token."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, local_operator
from hub.access.services import authenticate
from hub.core.errors import Unauthenticated


def local_principal(token: str = "") -> Principal:
    """The caller of a command or of a stdio server.

    With ``token`` (or HUB_TOKEN) its owner; without, the local operator, but only on an embedded database: whoever can
    start the command owns its files anyway. Raises Unauthenticated.
    """
    token = token or settings.CONFIG.hub_token
    if token:
        return authenticate(token)
    if not settings.EMBEDDED_DATABASE:
        raise Unauthenticated(
            _("DATABASE_URL points to a shared database: give an access token with --token or HUB_TOKEN.")
        )
    return local_operator()
