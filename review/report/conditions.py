"""Under which conditions two reviews of a document were made, as far as these differ: then not all that their results
differ in is a change of the document.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext as _

from hub.access.principals import Principal
from knowledge.models import Document
from review.judging.steps import StepName
from review.models import CheckResult, RelatedVersion, Review
from review.report.facts import step_label


def differing_conditions(principal: Principal, before: Review, now: Review) -> list[str]:
    """Say in the active language in which conditions two reviews differ: check list, related documents, steps with a
    language model. Empty where in none. Four queries.

    Related documents that the caller may not read are left out. Expects the check lists to be selected.
    """
    related, steps = _related_of(principal, (before, now)), _models_steps_of((before, now))
    sides = (
        (_("Check list: {before} then, {now} now."), _checklist(before), _checklist(now)),
        (_("Related documents: {before} then, {now} now."), _listed(related[before.pk]), _listed(related[now.pk])),
        (
            _("Steps with a language model: {before} then, {now} now."),
            _listed(steps[before.pk]),
            _listed(steps[now.pk]),
        ),
    )
    return [text.format(before=one, now=other) for text, one, other in sides if one != other]


def _checklist(review: Review) -> str:
    return f"{review.checklist_version.checklist} v{review.checklist_version.number}"


def _related_of(principal: Principal, reviews: Sequence[Review]) -> Mapping[int, list[str]]:
    """What the related documents that the caller may read, and those that are deleted, are called, by review.

    They are called by title and version; of several with one title by the path, too.
    """
    rows = list(RelatedVersion.objects.filter(review__in=reviews))
    all_there = Document.objects.filter(public_id__in={row.document_id_text for row in rows})
    documents = {one.public_id: one for one in all_there.visible_to(principal)}
    hidden = set(all_there.exclude(public_id__in=documents).values_list("public_id", flat=True))
    titles = Counter(one.title for one in documents.values())
    found: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        document = documents.get(row.document_id_text)
        if document:
            place = f" ({document.path})" if titles[document.title] > 1 else ""
            found[row.review_id].append(f"{document.title}{place} v{row.version_number}")
        elif row.document_id_text not in hidden:
            found[row.review_id].append(_("deleted document"))
    return found


def _models_steps_of(reviews: Sequence[Review]) -> Mapping[int, list[str]]:
    """The names of the steps that a language model took part in, by review."""
    rows = list(CheckResult.objects.filter(review__in=reviews).values_list("review_id", "steps"))
    return {
        review.pk: [
            step_label(name)
            for name in StepName
            if name != StepName.RULES and any(name in steps for pk, steps in rows if pk == review.pk)
        ]
        for review in reviews
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or _("none")
