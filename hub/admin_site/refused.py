"""What a service refuses of a valid form: the form comes back with it, and with all that was typed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from hub.core.errors import HubError

_REFUSAL = "_hub_refusal"


class RefusedMixin:
    """For model admins: what saving raises as `HubError` is an error of the form, at the field that it names.

    The transaction of the save has gone back by then; the form is checked once more, and not saved.
    """

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponseBase:
        """Show the form, or save it."""
        show_or_save: Any = super().changeform_view  # type: ignore[misc]
        given = (request, object_id, form_url, extra_context)
        try:
            return show_or_save(*given)  # type: ignore[no-any-return]
        except HubError as error:
            if request.method != "POST":
                raise
            setattr(request, _REFUSAL, error)
        for _name, files in request.FILES.lists():
            for file in files:
                file.seek(0)
        return show_or_save(*given)  # type: ignore[no-any-return]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: ANN401
        form: Any = super().get_form(request, obj, change, **kwargs)  # type: ignore[misc]
        refusal: HubError | None = getattr(request, _REFUSAL, None)
        return form if refusal is None else _with_error(form, refusal)


def _with_error(form: Any, refusal: HubError) -> Any:  # noqa: ANN401 (form classes of any model)
    class Refused(form):  # type: ignore[misc]
        def full_clean(self) -> None:
            with suppress(HubError):  # the refusal itself, where the form asks the service
                super().full_clean()
            if self.is_bound:
                named = refusal.data.get("field")
                at = named if named in self.fields else None
                # At its field, which has a name in the person's language, a refusal does without the one of the API.
                said = str(refusal).removeprefix(f"{named}: ") if at else str(refusal)
                self.add_error(at, ValidationError(said, code=refusal.error_code))

    Refused.__name__ = form.__name__
    return Refused
