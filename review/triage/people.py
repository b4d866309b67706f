"""What the people are called who had a part in a review."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Q

from hub.access.names import name_of
from review.models import Finding, FindingEvent, ResultDecision, Review, Signature


def names_in(review: Review) -> dict[str, str]:
    """The names, by user name, of those who decided, commented or signed in a review, or are to work on its findings.

    Who is no user, as programs are, is not among them, nor whose account is gone: histories keep their user names. One
    query. Permissions are not applied: the review is one that the reader may see.
    """
    parts = (
        FindingEvent.objects.filter(finding__result__review=review).values("actor"),
        ResultDecision.objects.filter(result__review=review).values("actor"),
        Signature.objects.filter(review=review).values("signer"),
        Finding.objects.filter(result__review=review).values("assignee"),
    )
    had_part = Q()
    for part in parts:
        had_part |= Q(pk__in=part)
    return {person.get_username(): name_of(person) for person in User.objects.filter(had_part)}
