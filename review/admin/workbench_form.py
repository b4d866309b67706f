"""The form of the curator's workbench, and what its script needs to know of rules and of the lines of criteria."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from hub.core.languages import shown
from knowledge.admin.document_picker import document_picker
from review.admin.checkitems import ItemVersionForm
from review.masters.cells import FORBIDDEN, REQUIRED
from review.models import CheckItem, CheckType, Strategy
from review.rules import list_rules

MOST_TRIED = 3
KEPT = tuple(name for name in ItemVersionForm.Meta.fields if name not in ("item", "reason"))
ROW_FIELDS = (*KEPT, "criteria")


class WorkbenchForm(ItemVersionForm):
    """A draft of a check item, the code of a new one, and what it is tried on and published in."""

    code = forms.CharField(
        label=_("code"),
        max_length=20,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("The item's name in reports for ever, such as BD-X01."),
    )
    documents = forms.CharField(
        label=_("Documents to try it on"),
        required=False,
        widget=document_picker("review", most=MOST_TRIED),
    )
    checklist = forms.ChoiceField(label=_("Check list"), required=False, widget=UnfoldAdminSelectWidget)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta(ItemVersionForm.Meta):
        fields = KEPT  # type: ignore[assignment]  # others than the parent's

    def __init__(self, *args: Any, checklists: list[tuple[str, str]], **more: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **more)
        self.fields["checklist"].choices = checklists  # type: ignore[attr-defined]
        for name in ("name_en", "check_type", "strategy"):
            self.fields[name].required = False
        for field in self.fields.values():
            field.widget.attrs.setdefault("class", "hub-input")
            if isinstance(field.widget, forms.Textarea):
                field.widget.attrs["rows"] = 3
        if self.instance.item_id:
            self.fields["code"].disabled = True
            self.initial["code"] = self.instance.item.code

    def clean_code(self) -> str:
        """Take a code that no other item has. :raises ValidationError: it is taken."""
        code: str = self.cleaned_data["code"].strip()
        if not self.instance.item_id and CheckItem.objects.filter(code=code).exists():
            raise ValidationError(_('There is a check item "%(code)s" already.'), params={"code": code})
        return code

    def clean(self) -> dict[str, Any]:
        """Fill what a curator need not choose, and read the lines."""
        values = super().clean()
        values["name_en"] = values.get("name_en") or values.get("name_ja", "")
        values["check_type"] = values.get("check_type") or CheckType.STYLE
        values["strategy"] = values.get("strategy") or Strategy.HYBRID
        if not self.instance.item_id:
            self.instance.item = CheckItem(code=values.get("code", ""), category=values.get("category", ""))
        return values

    @property
    def document_ids(self) -> list[str]:
        return str(self["documents"].value() or "").split()[:MOST_TRIED]


def line_parts() -> dict[str, Any]:
    """What the boxes of a line are called, field by field, hints in place of those for text, the kinds of patterns."""
    return {
        "patterns": [gettext("must occur, or must not"), gettext("regular expression")],
        "terms": [gettext("words to avoid, with 、 between them"), gettext("word to use")],
        "required_elements": [gettext("name"), gettext("section title"), gettext("regular expression")],
        "rules": [gettext("rule and its parameters")],
        "hints": {
            "patterns": gettext("Choose whether it must occur or must not, and write only the regular expression.")
        },
        "wanted": {REQUIRED[0]: gettext("must occur"), FORBIDDEN[0]: gettext("must not occur")},
    }


def rules_to_pick() -> list[dict[str, Any]]:
    """The rules for the picker: {id, title, looks_at, params}."""
    return [
        {
            "id": each.id,
            "title": shown(each.title),
            "hint": shown(each.looks_at),
            "params": dict(each.defaults),
        }
        for each in list_rules()
    ]
