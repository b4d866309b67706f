"""`manage.py token create|list|revoke`: access tokens."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.utils import timezone

from hub.access.models import AccessToken
from hub.access.principals import HubRight, Principal, Scope, local_operator, parse_scopes
from hub.access.services import HAS_PASSWORD_OF_ITS_DAY, create_token, local_principal, revoke_token
from hub.core.commands import HubCommand, cli_call

DEFAULT_SCOPES = "read,search"


class Command(HubCommand):
    help = (
        "Create, list and revoke access tokens. A token is shown once. "
        "Example: manage.py token create --user admin --scopes read,search,upload --expires 90"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=["create", "list", "revoke"])
        parser.add_argument("token_id", nargs="?", type=int, help="of the token to revoke")
        parser.add_argument("--user", default="", help="the person it acts for")
        parser.add_argument("--name", default="cli", help="what it is for")
        parser.add_argument("--scopes", default=DEFAULT_SCOPES, help=", ".join(scope.value for scope in Scope))
        parser.add_argument("--expires", type=int, metavar="DAYS", help="default and most: HUB_TOKEN_MAX_DAYS")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, action: str, **options: object) -> None:
        with cli_call():
            getattr(self, f"_{action}")(options)

    def _create(self, options: dict[str, object]) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"there is no user {options['user']!r}; name one with --user")
        try:
            scopes = parse_scopes(str(options["scopes"]).split(","))
        except ValueError as error:
            raise CommandError(str(error)) from error
        days = options["expires"]
        most = settings.CONFIG.hub_token_max_days
        if isinstance(days, int) and not 1 <= days <= most:
            raise CommandError(f"--expires takes 1 to {most} days (HUB_TOKEN_MAX_DAYS)")
        expires_at = timezone.now() + timedelta(days=days) if isinstance(days, int) else None
        row, token = create_token(
            principal=_maker(str(options["token"])),
            user=user,
            name=str(options["name"]),
            scopes=scopes,
            expires_at=expires_at,
        )
        if options["json"]:
            self.print_json({"token_id": row.pk, "token": token})
        else:
            self.stdout.write(token)

    def _list(self, options: dict[str, object]) -> None:
        principal = local_principal(str(options["token"]))
        principal.require_hub(HubRight.PEOPLE)
        rows = AccessToken.objects.select_related("user").order_by("pk")
        if not principal.is_superuser:
            rows = rows.filter(user__is_superuser=False)
        rows = rows.annotate(has_password_of_its_day=HAS_PASSWORD_OF_ITS_DAY)
        if options["user"]:
            rows = rows.filter(user__username=options["user"])
        for row in rows:
            state = _state(row)
            used = row.last_used_at.isoformat(timespec="seconds") if row.last_used_at else "never used"
            self.stdout.write(f"{row.pk}\t{row.hint}…\t{row.user}\t{','.join(row.scopes)}\t{state}\t{used}\t{row.name}")

    def _revoke(self, options: dict[str, object]) -> None:
        token_id = options["token_id"]
        if not isinstance(token_id, int):
            raise CommandError("name the token by its number: manage.py token revoke 3")
        row = revoke_token(principal=local_principal(str(options["token"])), token_id=token_id)
        self.stdout.write(f"revoked {row}")


def _maker(token: str) -> Principal:
    """The caller; on a database without any token ever, who has its password makes the first one."""
    if not (token or settings.CONFIG.hub_token) and not AccessToken.objects.exists():
        return local_operator()
    return local_principal(token)


def _state(row: AccessToken) -> str:
    if row.revoked_at:
        return "revoked"
    if row.is_expired(timezone.now()):
        return "expired"
    return "active" if row.has_password_of_its_day else "ended with the password"  # type: ignore[attr-defined]
