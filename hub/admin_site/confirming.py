"""What can't be undone asks for a proof of who is there: the one list of these pages, and the one check."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from hub.access.provider_sessions import CREDENTIAL
from hub.access.second_factor import has_second_factor, must_have_second_factor
from hub.access.sessions import is_confirmed

# By the names of their addresses. Who may open them is decided elsewhere.
OF_RIGHTS = ("auth_user", "auth_group", "access_clearance", "access_hubrolegrant", "access_providergroup")
OF_RIGHTS_TOO = ("access_provideraccount", "llm_providerconfirmation")
CONFIRMED_PAGES = frozenset(
    {
        *(f"{model}_{page}" for model in (*OF_RIGHTS, *OF_RIGHTS_TOO) for page in ("add", "change", "delete")),
        *("auth_user_password_change", "access_accesstoken_add", "hub_second_factor"),
        *("hub_collection_grants", "hub_role_grants"),
        "evaluation_evaluationdataset_readers",
        *("knowledge_document_delete", "knowledge_document_delete_many", "knowledge_collection_delete"),
        *("knowledge_collection_change", "knowledge_source_delete", "knowledge_embeddingset_drop"),
        *("knowledge_graphnode_delete", "knowledge_graphedge_delete", "upload-undo"),
    }
)
# What puts something in force for everybody or takes it out, ends a review, or deletes, whatever it is of.
CONFIRMED_ENDINGS = ("_publish", "_approve", "_retire", "_sign_off", "_delete", "_switch", "_rollback")
ACTIONS = frozenset({"delete_documents", "delete_selected", "remove_second_factor", "undo_last_scan"})
WITHOUT_SECOND_FACTOR = frozenset({"hub_second_factor", "hub_confirm", "hub_sessions", "logout", "jsi18n"})


def asked_first(request: HttpRequest, *, onwards: str) -> HttpResponseBase | None:
    """Lead to the page that asks for a proof, or for the set-up of a second factor; None where nothing is asked for.

    It leads back to the address ``onwards``.
    """
    user, match = request.user, request.resolver_match
    name = (match.url_name or "") if match else ""
    if not isinstance(user, User) or not user.is_active:
        return None
    if _lacks_second_factor(request, user) and name not in WITHOUT_SECOND_FACTOR:
        messages.warning(request, _("Set up an authenticator first: your account needs a second factor."))
        return HttpResponseRedirect(reverse("admin:hub_second_factor"))
    is_asked = name in CONFIRMED_PAGES or name.endswith(CONFIRMED_ENDINGS)
    is_change = request.method == "POST" and (is_asked or ACTIONS & set(request.POST.getlist("action")))
    if not is_change or is_confirmed(request):
        return None
    messages.info(request, _("What you were about to do can't be undone. Confirm who you are, and do it again."))
    return HttpResponseRedirect(f"{reverse('admin:hub_confirm')}?{urlencode({'next': onwards})}")


def _lacks_second_factor(request: HttpRequest, user: User) -> bool:
    return must_have_second_factor(user) and CREDENTIAL not in request.session and not has_second_factor(user)
