"""How the admin looks: names, colours, menu. ``hub.settings`` imports UNFOLD from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


def _file(path: str) -> Callable[[HttpRequest], str]:
    return lambda request: static(path)


def _may_view(app_label: str, model: str) -> Callable[[HttpRequest], bool]:
    """Show a menu entry to those whom the model's admin lets look."""

    def may_view(request: HttpRequest) -> bool:
        from django.contrib import admin  # the settings import this module before apps can be loaded

        return admin.site.get_model_admin(apps.get_model(app_label, model)).has_module_permission(request)

    return may_view


def _model(title: str | Promise, icon: str, app_label: str, model: str) -> dict[str, Any]:
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app_label}_{model}_changelist"),
        "permission": _may_view(app_label, model),
    }


def _page(title: str | Promise, icon: str, name: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": reverse_lazy(f"admin:{name}")}


def _may_look_at_rights(request: HttpRequest) -> bool:
    """Show a menu entry to those who administer people or a collection. One query at most."""
    from hub.admin_site.pages import principal_of  # the settings import this module before apps can be loaded
    from hub.people.rights import may_look

    return may_look(principal_of(request))


def _keeps_masters(request: HttpRequest) -> bool:
    """Show a menu entry to those who keep check masters."""
    from hub.access.principals import HubRight
    from hub.admin_site.pages import principal_of  # the settings import this module before apps can be loaded

    return principal_of(request).may(HubRight.MASTERS)


def _door(title: str | Promise, icon: str, guide: str, *items: dict[str, Any]) -> dict[str, Any]:
    """One of the eight entries of the menu: it leads to the first of its pages that the person may open.

    ``guide`` is the part of the guide that is about its pages.
    """
    return {"title": title, "icon": icon, "guide": guide, "items": list(items)}


def _for_everybody(title: str | Promise, icon: str, name: str) -> dict[str, Any]:
    """A page outside the admin; every address begins with home's, and none of the admin's pages is it."""
    return {"title": title, "icon": icon, "link": reverse_lazy(name), "active": lambda request: False}


def _account_links(request: HttpRequest) -> list[dict[str, Any]]:
    """What people find about their own sign-in; a password only who has one here."""
    links = [(_("Second factor"), "admin:hub_second_factor"), (_("Sessions"), "admin:hub_sessions")]
    if getattr(request.user, "has_usable_password", lambda: False)():
        links.append((_("Change password"), "admin:password_change"))
    return [{"title": title, "link": reverse_lazy(name)} for title, name in links]


UNFOLD: dict[str, Any] = {
    "ACCOUNT": {"navigation": _account_links},
    "SITE_TITLE": "Hub",
    "SITE_HEADER": "Hub",
    "SITE_SUBHEADER": _("Knowledge and review"),
    "SITE_SYMBOL": "hub",
    "SITE_URL": None,
    "SHOW_LANGUAGES": True,
    "SHOW_BACK_BUTTON": False,
    "BORDER_RADIUS": "6px",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _file("hub/icon.svg")}],
    "STYLES": [_file("hub/admin.css")],
    "SCRIPTS": [
        _file("hub/progress.js"),
        _file("hub/forms.js"),
        _file("hub/choices.js"),
        _file("hub/keyboard.js"),
        _file("hub/icons.js"),
        _file("hub/table_labels.js"),
        _file("hub/guide.js"),
    ],
    "DASHBOARD_CALLBACK": "hub.site.front_page.front_page",
    # a calm blue (hue 255), lightness and chroma as in Unfold's own scale
    "COLORS": {
        "primary": {
            "50": "oklch(97.0% .014 254.6)",
            "100": "oklch(93.2% .032 255.6)",
            "200": "oklch(88.2% .059 254.1)",
            "300": "oklch(80.9% .105 251.8)",
            "400": "oklch(70.7% .165 254.6)",
            "500": "oklch(62.3% .188 259.8)",
            "600": "oklch(50.6% .170 259.8)",
            "700": "oklch(45.0% .160 260.0)",
            "800": "oklch(39.0% .130 260.5)",
            "900": "oklch(34.0% .110 262.0)",
            "950": "oklch(26.0% .080 264.0)",
        }
    },
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "show_all_applications": False,
        "navigation": [
            _door(
                _("Home"),
                "home",
                "overview",
                _page(_("Overview"), "dashboard", "index"),
                _page(_("My work"), "inbox", "review_own_work"),
                _model(_("Scenarios"), "route", "review", "scenario"),
                _for_everybody(_("Page for everybody"), "home", "home"),
                _for_everybody(_("Guide"), "help", "guide"),
            ),
            _door(_("Search"), "search", "asking", _page(_("Search"), "search", "hub_search")),
            _door(
                _("Documents"),
                "description",
                "documents",
                _model(_("Documents"), "description", "knowledge", "document"),
                _model(_("Collections"), "folder", "knowledge", "collection"),
                _model(_("Document types"), "category", "knowledge", "documenttype"),
                _model(_("Sources"), "sync", "knowledge", "source"),
                _page(_("Retention"), "auto_delete", "hub_retention"),
                _model(_("Chunks"), "segment", "knowledge", "chunk"),
            ),
            _door(_("Reviews"), "rate_review", "desk", _model(_("Reviews"), "rate_review", "review", "review")),
            _door(
                _("Check lists"),
                "checklist",
                "check-lists",
                _model(_("Check lists"), "checklist", "review", "checklist"),
                _model(_("Check items"), "fact_check", "review", "checkitem"),
                _model(_("Mapping to check items"), "link", "review", "guidelinemapping"),
                _model(_("Suspect check items"), "flag", "review", "suspectmark"),
                _page(_("Rules that people reject"), "thumb_down", "review_noise") | {"permission": _keeps_masters},
            ),
            _door(
                _("Knowledge"),
                "account_tree",
                "knowledge",
                _model(_("Ontologies"), "account_tree", "knowledge", "ontology"),
                _model(_("Ontology classes"), "sell", "knowledge", "ontologyclass"),
                _model(_("Ontology properties"), "conversion_path", "knowledge", "ontologyproperty"),
                _model(_("Guidelines"), "gavel", "knowledge", "guideline"),
                _page(_("Explore the graph"), "hub", "hub_graph"),
                _page(_("Traceability"), "grid_on", "hub_traceability"),
                _model(_("Graph nodes"), "scatter_plot", "knowledge", "graphnode"),
                _model(_("Graph edges"), "timeline", "knowledge", "graphedge"),
                _model(_("Node types"), "category", "knowledge", "nodetype"),
                _model(_("Edge types"), "conversion_path", "knowledge", "edgetype"),
                _model(_("Identifier patterns"), "regular_expression", "knowledge", "identifierpattern"),
            ),
            _door(
                _("Evaluation"),
                "query_stats",
                "evaluation",
                _model(_("Evaluation"), "query_stats", "evaluation", "evaluationdataset"),
                _model(_("Prompts"), "chat", "review", "judgeprompt"),
            ),
            _door(
                _("Administration"),
                "settings",
                "administration",
                _page(_("AI assistants"), "smart_toy", "hub_assistants"),
                _model(_("Prompts for assistants"), "forum", "mcp_bridge", "promptversion"),
                _model(_("Access tokens"), "key", "access", "accesstoken"),
                _model(_("Users"), "person", "auth", "user"),
                _model(_("Groups"), "group", "auth", "group"),
                _model(_("Groups of providers"), "groups_3", "access", "providergroup"),
                _model(_("Provider accounts"), "badge", "access", "provideraccount"),
                _model(_("Clearances"), "shield_person", "access", "clearance"),
                _model(_("Hub roles"), "admin_panel_settings", "access", "hubrolegrant"),
                _page(_("Who may what, and why"), "policy", "hub_rights") | {"permission": _may_look_at_rights},
                _model(_("Embedding sets"), "deployed_code", "knowledge", "embeddingset"),
                _model(_("No-training confirmations"), "verified_user", "llm", "providerconfirmation"),
                _model(_("Audit events"), "history", "access", "auditevent"),
                _model(_("Deletion receipts"), "receipt_long", "knowledge", "deletionreceipt"),
            ),
        ],
    },
}
