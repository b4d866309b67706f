"""The form of a check item's version: its criteria are edited line by line, as in the spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from hub.core.languages import shown
from review.masters.cells import CellError, from_cell, read_threshold, to_cell
from review.masters.content import CRITERIA_FIELDS, LIST_CRITERIA
from review.masters.lint import Weight, lint_item
from review.masters.listing import content_of
from review.models import CheckItemVersion

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


def criteria_cells(criteria: Mapping[str, Any]) -> dict[str, str]:
    """The criteria as the texts of the form's fields."""
    return {name: to_cell(name, criteria.get(name)) for name in CRITERIA_FIELDS}


def _lines(label: StrPromise, hint: StrPromise | str = "", rows: int = 3) -> forms.CharField:
    widget = UnfoldAdminTextareaWidget(attrs={"rows": rows})
    return forms.CharField(label=label, required=False, widget=widget, help_text=hint)


class ItemVersionForm(forms.ModelForm[CheckItemVersion]):
    rules = _lines(_("rules"), _('One per line: rule_id {"parameter": value}. GET /rules lists all rules.'), rows=5)
    required_elements = _lines(_("required elements"), _("One per line: name [section title] = regular expression"))
    patterns = _lines(_("patterns"), _("One per line: 必須: regular expression, or 禁止: regular expression"))
    terms = _lines(_("term pairs"), _("One per line: word to avoid → word to use"))
    prompt = _lines(_("prompt"))
    expected_format = _lines(_("expected format"))
    rubric = _lines(_("rubric"))
    threshold = forms.CharField(label=_("threshold"), required=False, widget=UnfoldAdminTextInputWidget)

    class Meta:
        model = CheckItemVersion
        fields = (
            "item",
            "reason",
            "category",
            "name_ja",
            "name_en",
            "description_ja",
            "description_en",
            "guideline_reference",
            "check_type",
            "strategy",
            "priority",
        )

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 (Django's signature)
        super().__init__(*args, **more)
        if self.instance.pk:
            self.initial = {**self.initial, **criteria_cells(self.instance.criteria)}

    def clean(self) -> dict[str, Any]:
        """Read the lines. :raises ValidationError: one of them can't be read, or names no rule."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        criteria = {name: value for name, value in self.instance.criteria.items() if name not in CRITERIA_FIELDS}
        for name in CRITERIA_FIELDS:
            try:
                found = self._read(name, values.get(name) or "")
            except CellError as error:
                self.add_error(name, ValidationError(shown(error.text)))
                continue
            criteria |= {name: found} if found not in ("", [], None) else {}
        self.instance.criteria = criteria
        return values

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # not in the stubs
        if self.errors or not self.instance.item_id:
            return
        for remark in lint_item(content_of(self.instance)):
            field = remark.field.removeprefix("criteria.")
            # A draft without any way of judging may be kept; it can't be approved.
            if remark.weight is Weight.ERROR and remark.code != "untestable" and field in self.fields:
                self.add_error(field, ValidationError(shown(remark.message)))

    @staticmethod
    def _read(name: str, text: str) -> object:
        if name == "threshold":
            return read_threshold(text)
        return from_cell(name, text) if name in LIST_CRITERIA else text.replace("\r\n", "\n").strip()
