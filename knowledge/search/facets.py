"""What the found passages are of: how many are in each collection, of each type, classification and year."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.utils import timezone

from hub.access.principals import Classification
from knowledge.models import DocumentType, DocumentVersion
from knowledge.types.search import Facet

FIELDS = ("collection", "document_type", "classification", "year")


def facets_of(version_ids: Sequence[int]) -> tuple[Facet, ...]:
    """Count found passages, given by their versions, for each value of `FIELDS`; the most frequent first.

    The values are those that `SearchFilter` takes; a passage's classification is its document's own, as there, and its
    year is the one in which its document first came in, which ``created_from`` and ``created_to`` take. One query. No
    permissions are applied: the passages were found within them.
    """
    passages = Counter(version_ids)
    rows = DocumentVersion.objects.filter(pk__in=list(passages)).values_list(
        "pk",
        "document__collection__slug",
        "document__collection__name",
        "document__document_type_id",
        "document__document_type__name_ja",
        "document__document_type__name_en",
        "document__classification",
        "document__created_at",
    )
    counts: Counter[tuple[str, str, str]] = Counter()
    for pk, slug, name, code, name_ja, name_en, level, created_at in rows:
        kind = DocumentType(code=code, name_ja=name_ja, name_en=name_en)
        classification = Classification(level)
        year = str(timezone.localtime(created_at).year)
        levels = (classification.short, str(classification.label))
        values = ((slug, name), (code, str(kind)), levels, (year, year))
        for field, (value, label) in zip(FIELDS, values, strict=True):
            counts[field, value, label] += passages[pk]
    ordered = sorted(counts.items(), key=lambda one: (FIELDS.index(one[0][0]), -one[1], one[0][1]))
    return tuple(Facet(field=field, value=value, label=label, count=count) for (field, value, label), count in ordered)
