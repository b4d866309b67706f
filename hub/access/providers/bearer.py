"""Access tokens of identity providers as bearer tokens: one check for REST, MCP over HTTP and stdio."""

from __future__ import annotations

from dataclasses import replace

from django.utils import timezone

from hub.access.principals import Principal, Scope
from hub.access.provider_models import CredentialKind, ProviderAccount, ProviderCredential
from hub.access.providers.accounts import find_or_make_person
from hub.access.providers.checks import ask_by_token, digest_of_bearer, ensure_vouched, refused
from hub.access.providers.jwt import AccessClaims, check_access_token
from hub.access.providers.keys import away
from hub.access.providers.server import ProviderAway
from hub.access.services import principal_for_user, usable_scopes


def authenticate_token(raw: str) -> Principal:
    """Find the caller behind an access token of an identity provider; who comes for the first time is made.

    What they may do is what their roles allow, and of it no more than the token's scopes. Three queries, and a request
    to the provider for a new token and then every HUB_OIDC_CHECK_S.

    :raises Unauthenticated: the token is refused, or the provider does not vouch for it any more.
    :raises Unavailable: the provider has to be asked, and does not answer.
    """
    token = check_access_token(raw)
    digest = digest_of_bearer(raw)
    credential = ProviderCredential.objects.select_related("account__user").filter(digest=digest).first()
    if credential is None:
        credential = _first_use(token, raw, digest)
    ensure_vouched(credential, token=token, raw=raw)
    user = credential.account.user
    if not user.is_active:
        raise refused()
    person = principal_for_user(user)
    prefix = token.provider.scope_prefix
    scopes = frozenset(scope for scope in Scope if f"{prefix}{scope.value}" in token.scopes)
    asked = replace(person, scopes=scopes, client=token.client)
    return replace(asked, scopes=usable_scopes(asked))


def _first_use(token: AccessClaims, raw: str, digest: str) -> ProviderCredential:
    try:
        said = ask_by_token(token.provider, token, raw)
    except ProviderAway as error:
        raise away(token.provider, str(error)) from error
    now = timezone.now()
    account = ProviderAccount.objects.filter(provider=token.provider.id, subject=token.subject).first()
    if said.vouches:
        account = find_or_make_person(token.provider, token.subject, said.claims or token.claims)
    if account is None:
        raise refused()
    kept = {"account": account, "kind": CredentialKind.BEARER, "expires_at": token.expires_at}
    kept |= {"checked_at": now, "attempted_at": now, "ended_at": None if said.vouches else now}
    ProviderCredential.objects.bulk_create(
        [ProviderCredential(digest=digest, **kept)], ignore_conflicts=True
    )  # another call may have brought the same token
    return ProviderCredential.objects.select_related("account__user").get(digest=digest)
