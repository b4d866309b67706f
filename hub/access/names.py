"""What people are called on pages."""

from __future__ import annotations

import re

from django.contrib.auth.models import AbstractBaseUser, AbstractUser

_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff々]")


def full_name(user: AbstractUser) -> str:
    """A person's whole name as it is written: 佐藤 花子 with the family name first, Hanako Sato last; may be empty."""
    family, given = user.last_name.strip(), user.first_name.strip()
    parts = (family, given) if _JAPANESE.search(family + given) else (given, family)
    return " ".join(filter(None, parts))


def name_of(user: AbstractBaseUser) -> str:
    """A person's whole name, or their user name where none is stored."""
    return (full_name(user) if isinstance(user, AbstractUser) else "") or user.get_username()
