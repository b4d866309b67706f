"""Why a list is empty, and what to call next: an empty list without a reason looks like an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal
from hub.core.errors import InvalidInput
from hub.core.languages import in_both
from knowledge.types.search import SearchFilter
from review.masters.listing import list_checklists, version_in_force

Notice = dict[str, str]


def _notice(code: str, message: object) -> Notice:
    text = in_both(message)
    return {"code": code, "ja": text.ja, "en": text.en}


class _Message:
    """A translated message with its values, in the language that is active when it is shown."""

    def __init__(self, message: object, **values: object) -> None:
        self._message, self._values = message, values

    def __str__(self) -> str:
        return str(self._message).format(**self._values)


def no_check_items(principal: Principal, filters: Mapping[str, str]) -> Notice:
    """Say why there is no check item in force that passes the filters."""
    lists = list(list_checklists(principal))
    wanted = [
        one
        for one in lists
        if filters["checklist"] in ("", one.code) and filters["document_type"] in ("", *one.document_types)
    ]
    unapproved = [one.code for one in wanted if version_in_force(one) is None]
    if wanted and len(unapproved) == len(wanted):
        message = _Message(
            _("No version of {codes} is approved for today, so nothing of it is in force. A curator approves one."),
            codes=", ".join(unapproved),
        )
        return _notice("checklist_not_approved", message)
    if not wanted:
        message = _Message(
            _("No check list is for the document type {type}. Types with one: {types}."),
            type=filters["document_type"],
            types=", ".join(sorted({code for one in lists for code in one.document_types})) or "-",
        )
        return _notice("no_checklist_for_type", message)
    named = ", ".join(f"{name}={value}" for name, value in filters.items() if value)
    message = _Message(_("No check item in force passes these filters: {filters}. Leave some out."), filters=named)
    return _notice("no_check_item", message)


def no_mapping() -> Notice:
    """Say that nothing is mapped."""
    return _notice(
        "no_mapping", _("It is there, but nothing is mapped to it yet. Without arguments all mappings are listed.")
    )


def no_document(filters: Mapping[str, str]) -> Notice:
    """Say that no document passes the filters, or that there is none."""
    named = ", ".join(f"{name}={value}" for name, value in filters.items() if value)
    if not named:
        return _notice("no_document", _("There is no document yet that you may read. upload_document takes one in."))
    message = _Message(
        _("No document that you may read passes {filters}. query is a part of the title or path; search looks inside."),
        filters=named[:300],
    )
    return _notice("no_document", message)


def no_record() -> Notice:
    """Say that a query over the graph matched nothing."""
    message = _(
        "The query matched nothing. The labels and relations in use: CALL db.labels(), CALL db.relationshipTypes()."
    )
    return _notice("no_record", message)


def nothing_in_scope(asked: SearchFilter) -> list[Notice]:
    """Say how a filter by document or section may have the wrong form; empty without one."""
    found = []
    if asked.section_path:
        message = _Message(
            _(
                "No section {section}: give its number alone (4.2) or the headings from the top; get_section shows "
                "the outline."
            ),
            section=" > ".join(asked.section_path)[:200],
        )
        found.append(_notice("section_not_found", message))
    if asked.document_ids:
        message = _Message(
            _("No text to search in {documents}: list_documents finds the ids and shows what is not ready."),
            documents=", ".join(asked.document_ids)[:200],
        )
        found.append(_notice("document_not_found", message))
    return found


def refuse_empty(name: str, text: str) -> None:
    """Raise InvalidInput for an argument without any text."""
    if not text.strip():
        raise InvalidInput(
            _("{field} is empty: give the text itself, not a file name or an address."), code="empty_text", field=name
        )


def first_of(rows: Sequence[object], notice: Notice) -> list[Notice]:
    """The notice where there are no rows."""
    return [] if rows else [notice]
