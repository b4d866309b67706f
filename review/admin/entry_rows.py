"""The rows of a check list's draft as a page sends them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Model
from django.forms.models import BaseInlineFormSet
from django.utils.translation import gettext_lazy as _

from review.models import CheckListEntry


class ChoiceAtHand(AutocompleteSelect):
    """A choice that names the row which it holds from what was loaded; of any other it asks for the name."""

    chosen: Model | None = None

    def optgroups(self, name: str, value: Sequence[str], attr: dict[str, Any] | None = None) -> list[Any]:
        if self.chosen is None or list(value) != [str(self.chosen.pk)]:
            groups: list[Any] = super().optgroups(name, value, attr)
            return groups
        return [(None, [self.create_option(name, self.chosen.pk, str(self.chosen), True, 0)], 0)]


class EntryRows(BaseInlineFormSet[CheckListEntry, Any, forms.ModelForm[CheckListEntry]]):
    """Rows that keep their check items: an order is changed by places, so no row takes what another stored one has."""

    def add_fields(self, form: forms.ModelForm[CheckListEntry], index: int | None) -> None:
        """Give each row's choice the check item that was loaded with the row."""
        super().add_fields(form, index)
        choice = form.fields.get("item_version")
        widget = getattr(choice.widget, "widget", None) if choice else None
        if isinstance(widget, ChoiceAtHand) and form.instance.item_version_id:
            widget.chosen = form.instance.item_version

    def clean(self) -> None:
        super().clean()
        if self.instance.pk is None:
            return
        sent = {form.instance.pk for form in self.initial_forms}
        rows = {entry.item_version_id: entry.pk for entry in self.instance.entries.all()}
        for form in self.forms:
            chosen = form.cleaned_data.get("item_version") if hasattr(form, "cleaned_data") else None
            if chosen is None or form in self.deleted_forms or chosen.pk not in rows:
                continue
            holder, is_new = rows[chosen.pk], form in self.extra_forms
            # New rows are stored after those that the page was sent with, which may have given the item up by then.
            if holder != form.instance.pk and not (is_new and holder in sent):
                form.add_error(
                    "item_version",
                    _("Another row of this check list has this check item. Change the places of rows to reorder them."),
                )
