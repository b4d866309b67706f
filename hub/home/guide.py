"""The guide for readers."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from hub.home.pages import home_page, render_home


@home_page
def guide(request: HttpRequest) -> HttpResponseBase:
    """Say how to ask, what the numbers behind sentences are, and what to do when nothing answers."""
    return render_home(request, "home/guide.html", title=_("Guide"))
