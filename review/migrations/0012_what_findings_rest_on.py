"""Findings note the other documents that they rest on; those stored before get them from what is stored with them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
from django.db import migrations, models

QUOTES_LITTLE = frozenset(
    {"traceability.undefined_reference", "traceability.unreferenced_definition", "traceability.dangling_reference"}
)
"""Rules that compare documents and need not quote the other one: where nothing names it, all of them were read."""

BATCH = 500


def note_sources(apps: Any, schema_editor: Any) -> None:
    related: dict[int, list[str]] = defaultdict(list)
    rows = apps.get_model("review", "RelatedVersion").objects.values_list("review_id", "document_id_text")
    for review_id, document_id in rows:
        related[review_id].append(document_id)
    findings = apps.get_model("review", "Finding").objects
    for review_id, others in related.items():
        changed = []
        of_review = findings.filter(result__review_id=review_id).select_related("result__review")
        for finding in of_review.iterator(chunk_size=BATCH):
            finding.rests_on = _sources(finding, others)
            if finding.rests_on:
                changed.append(finding)
        findings.bulk_update(changed, ["rests_on"], batch_size=BATCH)
    _note_carried(findings)


def _sources(finding: Any, others: list[str]) -> list[str]:
    named = {item["document_id"] for item in finding.evidence} | {finding.data.get("document_id")}
    named -= {None, finding.result.review.document_id_text}
    return sorted(named or (others if finding.rule_id in QUOTES_LITTLE else ()))


def _note_carried(findings: Any) -> None:
    """What was said of an earlier finding rests on what that one rests on; the earlier ones come first."""
    sources = dict(findings.exclude(rests_on=[]).values_list("public_id", "rests_on"))
    if not sources:
        return
    for finding in findings.exclude(carried={}).order_by("result__review_id", "pk").iterator(chunk_size=BATCH):
        taken = sources.get(finding.carried["finding_id"])
        if taken:
            finding.rests_on = sources[finding.public_id] = sorted({*finding.rests_on, *taken})
            finding.save(update_fields=["rests_on"])


class Migration(migrations.Migration):
    dependencies = [("review", "0011_curated_versions")]

    operations = [
        migrations.AddField(
            model_name="finding",
            name="rests_on",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40), default=list, editable=False, size=None
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=django.contrib.postgres.indexes.GinIndex(
                condition=models.Q(("rests_on", []), _negated=True), fields=["rests_on"], name="findings_by_source"
            ),
        ),
        migrations.RunPython(note_sources, migrations.RunPython.noop),
    ]
