"""What the people are called who had a part in a review."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from hub.access.names import name_with_login
from review.models import Finding, FindingEvent, ResultDecision, Review, Signature


def names_in(review: Review) -> dict[str, str]:
    """The names, by user name, of those who decided, took a verdict back, commented or signed in a review, or are to
    work on its findings.

    Histories keep the user names of their day. One that stands there for anybody but the account that has it today, who
    was renamed, is gone or was a program, is not among them, and is to be shown as it is stored. One query. Permissions
    are not applied: the review is one that the reader may see.
    """
    parts = (
        FindingEvent.objects.filter(finding__result__review=review).values("actor"),
        ResultDecision.objects.filter(result__review=review).values("actor"),
        ResultDecision.objects.filter(result__review=review).values("taken_back_actor"),
        Signature.objects.filter(review=review).values("signer"),
        Finding.objects.filter(result__review=review).values("assignee"),
    )
    had_part = Q()
    for part in parts:
        had_part |= Q(pk__in=part)
    people = _only_they_had_the_name(User.objects.filter(had_part), review)
    return {person.get_username(): name_with_login(person) for person in people}


def _only_they_had_the_name(people: QuerySet[User], review: Review) -> QuerySet[User]:
    """Keep the people under whose user name nothing is stored that somebody else did, in any review of the document:
    what was decided in an earlier one is carried over with the name alone.
    """
    reviews = Review.objects.filter(document_id_text=review.document_id_text).values("pk")
    name, own = OuterRef("username"), OuterRef("pk")
    events = FindingEvent.objects.filter(finding__result__review__in=reviews, actor_name=name).exclude(actor=own)
    decided = ResultDecision.objects.filter(result__review__in=reviews)
    decisions = decided.filter(actor_name=name).exclude(actor=own)
    taken_back = decided.filter(taken_back_by=name).exclude(taken_back_actor=own)
    signatures = Signature.objects.filter(review__in=reviews, signer_name=name).exclude(signer=own)
    return people.filter(~Exists(events), ~Exists(decisions), ~Exists(taken_back), ~Exists(signatures))
