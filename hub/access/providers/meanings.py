"""What a provider's group means here, changed or withdrawn: it counts at once for those who came in by it before."""

from __future__ import annotations

from django.db import transaction

from hub.access.provider_models import ProviderAccount, ProviderGroup
from hub.access.providers.accounts import apply_groups


def apply_meaning(before: ProviderGroup | None, now: ProviderGroup | None) -> int:
    """Take back what a group brought before, and give what it means now, to those whom the provider named in it last.

    None for a meaning that is new, or withdrawn. Call after the row was saved or deleted, in its transaction; gives the
    number of people. A change is audited for each, and heard by open streams.
    """
    named = {(one.provider, one.value) for one in (before, now) if one is not None}
    people = 0
    with transaction.atomic():
        for provider, value in sorted(named):
            accounts = ProviderAccount.objects.filter(provider=provider, groups__contains=[value])
            for account in accounts.select_related("user").order_by("pk").iterator(chunk_size=500):
                apply_groups(account, None)
                people += 1
    return people
