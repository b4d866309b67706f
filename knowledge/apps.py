from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from hub.core.shipped_content import load_after_migrations


class KnowledgeConfig(AppConfig):
    name = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        from hub.access.changes import watch  # models are not loaded yet when this module is
        from hub.access.people import CARRIED_BY_GROUPS, CARRIED_BY_PERSON
        from hub.access.rights import HIDDEN_IDS, RIGHTS
        from hub.access.services import SCOPES
        from knowledge.grants import carried_by_groups, carried_by_person, granted_scopes, rights_by_grants
        from knowledge.models import Collection, CollectionGrant, Document

        SCOPES.register(granted_scopes)
        RIGHTS.register(rights_by_grants)
        CARRIED_BY_GROUPS.register(carried_by_groups)
        CARRIED_BY_PERSON.register(carried_by_person)
        HIDDEN_IDS.register(("doc", Document.objects.any_hidden))
        watch(Collection, CollectionGrant)
        load_after_migrations(self, _load_shipped_content)


def _load_shipped_content() -> None:
    from knowledge.shipped import load_shipped_content  # models are not loaded yet when this module is

    load_shipped_content()
