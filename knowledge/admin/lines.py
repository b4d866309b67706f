"""A form field for a list of texts, edited one per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from hub.core.patterns import PatternRefused, check_pattern
from knowledge.ontology.titles import HEADING_CUE

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


class LinesField(forms.CharField):
    """Turns lines into a list of distinct, non-empty texts; with ``are_patterns`` each must be a regular expression."""

    def __init__(self, *, label: str | StrPromise, are_patterns: bool = False) -> None:
        super().__init__(
            label=label,
            required=False,
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
            help_text=_("One regular expression per line.") if are_patterns else _("One per line."),
        )
        self.are_patterns = are_patterns

    def prepare_value(self, value: str | Iterable[str] | None) -> str:
        """Show the stored list as lines."""
        return value if isinstance(value, str) else "\n".join(value or ())

    def clean(self, value: str | None) -> list[str]:
        """Read the lines. :raises ValidationError: a pattern can't be compiled; it is named."""
        lines = [line.strip() for line in (value or "").splitlines()]
        found = list(dict.fromkeys(line for line in lines if line))
        for line in found if self.are_patterns else ():
            self._check_pattern(line)
        return found

    def has_changed(self, initial: Iterable[str] | None, data: str | None) -> bool:
        """Compare lists, not texts."""
        return list(initial or ()) != [line.strip() for line in (data or "").splitlines() if line.strip()]

    @staticmethod
    def _check_pattern(line: str) -> None:
        try:
            check_pattern(line.removeprefix(HEADING_CUE), where="")
        except PatternRefused as refused:
            raise ValidationError(
                _("%(line)s can't be used as a regular expression: %(reason)s"),
                params={"line": line, "reason": refused.reason},
            ) from refused
