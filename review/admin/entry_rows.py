"""The rows of a check list's draft as a page sends them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms.models import BaseInlineFormSet
from django.utils.translation import gettext_lazy as _

from review.models import CheckListEntry


class EntryRows(BaseInlineFormSet[CheckListEntry, Any, forms.ModelForm[CheckListEntry]]):
    """Rows that keep their check items: an order is changed by places, so no row takes what another stored one has."""

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
