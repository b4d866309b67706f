"""What the people are called who made, published and retired versions that keep their user names alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.contrib.auth.models import User

from hub.access.models import AuditEvent
from hub.access.names import name_with_login
from hub.access.versions import Version

PeopleOfVersions = dict[str, dict[str, str]]
"""By what the audit trail calls a version, and by user name: a name with the user name."""


def people_of_versions(versions: Iterable[Version]) -> PeopleOfVersions:
    """Return the names of those who did something to versions, by the audit trail, while their accounts have the user
    names with which they did it. Whom the trail no longer knows is to be shown as the version has it. Two queries.
    """
    lines = AuditEvent.objects.filter(resource__in={version.audited for version in versions}, user__isnull=False)
    acted: dict[tuple[str, str], set[int]] = defaultdict(set)
    for resource, name, user_id in lines.order_by().values_list("resource", "principal", "user_id").distinct():
        acted[resource, name].add(user_id)
    people = User.objects.in_bulk({one for ids in acted.values() for one in ids})
    found: PeopleOfVersions = defaultdict(dict)
    for (resource, name), ids in acted.items():
        called = [person for one in ids if (person := people.get(one)) and person.get_username() == name]
        if len(ids) == 1 and called:
            found[resource][name] = name_with_login(called[0])
    return found
