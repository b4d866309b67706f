"""What people are called on pages."""

from __future__ import annotations

import re

from django.contrib.auth.models import AbstractBaseUser, AbstractUser, User
from django.db.models import Q, QuerySet
from django.db.models.functions import Concat

_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々]")


def full_name(user: AbstractUser) -> str:
    """A person's whole name as it is written: 佐藤 花子 with the family name first, Hanako Sato last; may be empty."""
    family, given = user.last_name.strip(), user.first_name.strip()
    parts = (family, given) if _JAPANESE.search(family + given) else (given, family)
    return " ".join(filter(None, parts))


def name_of(user: AbstractBaseUser) -> str:
    """A person's whole name, or their user name where none is stored."""
    return (full_name(user) if isinstance(user, AbstractUser) else "") or user.get_username()


def name_with_login(user: AbstractBaseUser) -> str:
    """A person's whole name with the user name, 佐藤 花子 (hsato), which nobody else has; or the user name alone."""
    name, login = name_of(user), user.get_username()
    return login if name == login else f"{name} ({login})"


def called_like(people: QuerySet[User], words: str) -> QuerySet[User]:
    """Keep the people in whose user name, or family and given name, each of some words is found.

    The family and the given name may come in either order, or be written as one: 佐藤花子.
    """
    named = people.annotate(written=Concat("last_name", "first_name"))
    for word in words.split():
        named = named.filter(Q(username__icontains=word) | Q(written__icontains=word))
    return named
