from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import gettext_lazy as _


class AccessConfig(AppConfig):
    name = "hub.access"
    label = "access"
    verbose_name = _("Access")

    def ready(self) -> None:
        from django.contrib.auth.models import User  # models are not loaded yet when this module is

        from hub.access.audit_trail import guard_audit_trail
        from hub.access.changes import watch, watch_groups
        from hub.access.models import AccessToken, Clearance, HubRoleGrant
        from hub.access.provider_models import ProviderAccount
        from hub.access.services import keep_tokens_when_a_hash_is_renewed
        from hub.access.sessions import note_sign_ins

        note_sign_ins()
        keep_tokens_when_a_hash_is_renewed()
        watch(User, AccessToken, Clearance, HubRoleGrant, ProviderAccount)
        watch_groups()
        if settings.EMBEDDED_DATABASE:
            guard_audit_trail()
