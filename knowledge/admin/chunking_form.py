"""How documents are to be cut, as fields of a form."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from knowledge.types.chunks import ChunkOptions, ChunkStrategy


class ChunkingForm(forms.Form):
    """Strategy and sizes, all of them optional."""

    chunk_strategy = forms.ChoiceField(
        label=_("Chunking"),
        required=False,
        choices=[("", _("as the active set")), *((item.value, item.value) for item in ChunkStrategy)],
        widget=UnfoldAdminSelectWidget,
        help_text=_("section keeps to headings, fixed to the size, semantic cuts where the meaning changes."),
    )
    chunk_size = forms.IntegerField(
        label=_("Chunk size (tokens)"),
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_("Empty: documents are cut as for the active set."),
    )
    chunk_overlap = forms.IntegerField(
        label=_("Overlap (tokens)"), required=False, min_value=0, widget=UnfoldAdminIntegerFieldWidget
    )

    def chunk_options(self) -> ChunkOptions | None:
        """Give what was asked for, with defaults for what was left out; None when nothing was asked for."""
        strategy, size, overlap = (self.cleaned_data[f"chunk_{name}"] for name in ("strategy", "size", "overlap"))
        if not strategy and not size:
            return None
        default = ChunkOptions()
        size = size or default.size
        return ChunkOptions(
            strategy=ChunkStrategy(strategy or default.strategy),
            size=size,
            overlap=min(default.overlap, size // 2) if overlap is None else overlap,
        )
