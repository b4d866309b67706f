"""`manage.py changepassword`: Django's own, which here leaves a line in the audit trail."""

from __future__ import annotations

import getpass

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.models import User
from django.db import transaction

from hub.access.principals import local_operator
from hub.access.services import record_event
from hub.core.commands import cli_call


class Command(changepassword.Command):
    def handle(self, *args: object, **options: object) -> str | None:
        """Set the password and note it, both or neither."""
        with cli_call(), transaction.atomic():
            said: str | None = super().handle(*args, **options)
            user = User.objects.get(username=options["username"] or getpass.getuser())
            record_event(local_operator(), "ACCOUNT_CHANGE", f"user:{user.pk}", name=str(user), changed=["password"])
        return said
