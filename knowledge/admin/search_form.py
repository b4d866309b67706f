"""What the search page asks for: the question, how to look for it, and every filter that search has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from hub.access.principals import Classification, Principal, Scope
from hub.core.strict_json import read_json
from knowledge.admin.fields import collection_choices
from knowledge.models import DocumentType
from knowledge.search import MAX_LIMIT, MAX_OFFSET, MAX_QUERY_CHARS, knowledge_base_config, several
from knowledge.types.search import SearchDetail, SearchFilter, SearchMode, SearchQuery, SearchSource

LIMITS = (10, 20, 50)
COMPARE = "compare"
MODES = (
    (SearchMode.HYBRID.value, _("hybrid")),
    (SearchMode.VECTOR.value, _("by meaning")),
    (SearchMode.LEXICAL.value, _("by words")),
)
LANGUAGES = (("", _("all")), ("ja", _("Japanese")), ("en", _("English")))
SOURCES = (
    (SearchSource.LOCAL.value, _("this hub")),
    (SearchSource.BEDROCK.value, "Amazon Bedrock"),
    (SearchSource.ALL.value, _("both")),
)
CLASSIFICATIONS = (("", _("all")), *((item.short, item.label) for item in Classification))
FILTERS = (
    *("document_type", "classification", "language", "section", "document", "metadata"),
    *("created_from", "created_to", "updated_from", "updated_to", "threshold", "per_document"),
)
BETWEEN_HEADINGS = re.compile(r"[›>＞]")
BETWEEN_PAIRS = re.compile(r"[,、]")


def _choice(label: Any, choices: Any = ()) -> forms.ChoiceField:  # noqa: ANN401
    return forms.ChoiceField(label=label, choices=choices, required=False, widget=UnfoldAdminSelectWidget)


def _line(label: Any, *, placeholder: Any = "", help_text: Any = "") -> forms.CharField:  # noqa: ANN401
    shown = {"class": "hub-input", "placeholder": placeholder}
    widget = forms.TextInput(attrs=shown)
    return forms.CharField(label=label, max_length=500, required=False, widget=widget, help_text=help_text)


def _day(label: Any) -> forms.DateField:  # noqa: ANN401
    widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date", "class": "hub-input"})
    return forms.DateField(label=label, required=False, widget=widget, input_formats=["%Y-%m-%d"])


class SearchForm(forms.Form):
    """What to look for, and where. All of it is in the address, so that a search can be kept and shared."""

    q = forms.CharField(label=_("Query"), max_length=MAX_QUERY_CHARS, strip=True)
    mode = _choice(_("Mode"), (*MODES, (COMPARE, _("side by side"))))
    collection = _choice(_("Collection"))
    limit = forms.TypedChoiceField(
        label=_("Results"),
        choices=[(number, number) for number in LIMITS],
        coerce=int,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    source = _choice(_("Search in"), SOURCES)
    explain = forms.BooleanField(label=_("Explain scores"), required=False)
    offset = forms.IntegerField(min_value=0, max_value=MAX_OFFSET, required=False, widget=forms.HiddenInput)

    document_type = _choice(_("Document type"))
    classification = _choice(_("Classification"), CLASSIFICATIONS)
    language = _choice(_("Language of the passage"), LANGUAGES)
    section = _line(
        _("Section"),
        placeholder="3.2",
        help_text=_("A heading's number alone, or headings from the top with › between them."),
    )
    document = _line(_("Document"), placeholder="doc_…", help_text=_("The id on the document's page."))
    metadata = _line(
        _("Metadata"),
        placeholder=_("year=2025, office=Tokyo"),
        help_text=_("name=text with commas between, or a JSON object."),
    )
    created_from = _day(_("Added from"))
    created_to = _day(_("Added until"))
    updated_from = _day(_("Changed from"))
    updated_to = _day(_("Changed until"))
    threshold = forms.FloatField(
        label=_("Least score"),
        min_value=0,
        max_value=1,
        required=False,
        widget=forms.NumberInput(attrs={"class": "hub-input", "step": "0.05"}),
        help_text=_("0.7 and above is good evidence."),
    )
    per_document = forms.IntegerField(
        label=_("Most passages of one document"),
        min_value=1,
        max_value=MAX_LIMIT,
        required=False,
        widget=forms.NumberInput(attrs={"class": "hub-input"}),
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        if not knowledge_base_config().kb_id.strip():
            del self.fields["source"]
        self._offer("collection", collection_choices(principal, Scope.SEARCH))
        self._offer("document_type", [(row.code, str(row)) for row in DocumentType.objects.order_by("code")])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = [("", _("all")), *choices]  # type: ignore[attr-defined]

    @property
    def options(self) -> list[forms.BoundField]:
        """The fields that are right below the question."""
        return [self[name] for name in ("mode", "collection", "limit", "source") if name in self.fields]

    @property
    def filters(self) -> list[forms.BoundField]:
        """The fields that the fold-out below the question holds."""
        return [self[name] for name in FILTERS]

    @property
    def filters_used(self) -> int:
        """How many of those say something."""
        return sum(1 for name in FILTERS if str(self[name].value() or "").strip())

    @property
    def compares(self) -> bool:
        """Whether the modes are asked for side by side."""
        return bool(self.cleaned_data["mode"] == COMPARE)

    @property
    def chosen_source(self) -> SearchSource:
        """Where to look; only this hub where no knowledge base is configured."""
        return SearchSource(self.cleaned_data.get("source") or SearchSource.LOCAL)

    def clean_metadata(self) -> dict[str, Any]:
        """Read a JSON object, or pairs of names and texts."""
        text = self.cleaned_data["metadata"]
        if not text:
            return {}
        try:
            given = read_json(text) if text.startswith("{") else dict(_pairs(text))
        except ValueError as error:
            raise forms.ValidationError(_("Expected name=text, or a JSON object.")) from error
        return dict(given)

    def as_query(self) -> SearchQuery:
        """Turn valid input into a query for the search service."""
        asked = self.cleaned_data
        mode = asked["mode"] if asked["mode"] and not self.compares else SearchMode.HYBRID
        return SearchQuery(
            text=asked["q"],
            mode=SearchMode(mode),
            limit=asked["limit"] or LIMITS[0],
            offset=0 if self.compares else asked["offset"] or 0,
            detail=SearchDetail.EXPLAIN if asked["explain"] else SearchDetail.HIGHLIGHTS,
            threshold=asked["threshold"] or 0.0,
            per_document=asked["per_document"],
            filter=self._filter(asked),
        )

    @staticmethod
    def _filter(asked: dict[str, Any]) -> SearchFilter:
        return SearchFilter(
            collections=_given(asked["collection"]),
            document_ids=_given(asked["document"]),
            document_types=_given(asked["document_type"]),
            section_path=tuple(title.strip() for title in BETWEEN_HEADINGS.split(asked["section"]) if title.strip()),
            language=asked["language"] or None,
            metadata=asked["metadata"],
            classifications=_given(asked["classification"]),
            created_from=asked["created_from"],
            created_to=asked["created_to"],
            updated_from=asked["updated_from"],
            updated_to=asked["updated_to"],
        )


def asked_again(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Fill the form's fields from a case's input, besides question and collection; of several values the first."""
    restriction = dict(asked.get("filter", {}))
    headings, metadata = several(restriction.pop("section_path", [])), restriction.pop("metadata", {})
    fields = {"document" if name == "document_id" else name: value for name, value in restriction.items()}
    return {
        **{name: value[0] if isinstance(value, list) else value for name, value in fields.items() if value},
        **({"section": " › ".join(headings)} if headings else {}),
        **({"metadata": json.dumps(metadata, ensure_ascii=False)} if metadata else {}),
        **{name: asked[name] for name in ("mode", "threshold", "per_document") if name in asked},
    }


def _given(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = [part.partition("=") for part in BETWEEN_PAIRS.split(text) if part.strip()]
    if any(not name.strip() or not sign for name, sign, _value in pairs):
        raise ValueError(text)
    return [(name.strip(), value.strip()) for name, _sign, value in pairs]
