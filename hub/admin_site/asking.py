"""The page that asks before one click does what no other click undoes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.functional import Promise

from hub.admin_site.pages import render_page

CONFIRMED = "confirmed"
MOST_NAMED = 100
_NOTHING: Mapping[str, str] = {}


def ask_first(
    request: HttpRequest,
    *,
    title: str | Promise,
    consequence: str | Promise,
    rows: Sequence[str],
    button: str | Promise,
    leave: str = "",
    said: Mapping[str, str] = _NOTHING,
) -> TemplateResponse | None:
    """Return the page that asks whether to go on, naming the ``rows`` that it is about; None once the answer is yes.

    The answer repeats all that was posted, so that the same view gets it again, with `CONFIRMED` and what the page
    ``said``, by field. Who does not go on is led to ``leave``, or to the same address.
    """
    if CONFIRMED in request.POST:
        return None
    posted = [(name, value) for name, values in request.POST.lists() for value in values if name not in said]
    return render_page(
        request,
        "admin/hub/ask.html",
        title=title,
        consequence=consequence,
        rows=rows[:MOST_NAMED],
        more=max(len(rows) - MOST_NAMED, 0),
        button=button,
        leave=leave or request.get_full_path(),
        posted=[*((name, value) for name, value in posted if name != "csrfmiddlewaretoken"), *said.items()],
    )
