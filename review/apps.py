from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from hub.core.shipped_content import load_after_migrations


class ReviewConfig(AppConfig):
    name = "review"
    verbose_name = _("Review")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from hub.access.rights import HIDDEN_IDS  # models are not loaded yet when this module is
        from knowledge.documents.deletion import ERASERS
        from knowledge.embedding_sets.switching import SWITCH_CHECKS
        from knowledge.guidelines.editions import CHECK_ITEM_FINDERS, EDITION_LISTENERS
        from knowledge.ports import GRAPH_MASTERS
        from review.erasure import erase_reviews_of
        from review.evaluation.gate import check_switch
        from review.graph_master import CheckItems
        from review.mappings import mapped_items, mark_suspects
        from review.models import Finding, Review

        HIDDEN_IDS.register(("rev", Review.objects.any_hidden))
        HIDDEN_IDS.register(("fnd", Finding.objects.any_hidden))
        load_after_migrations(self, _load_shipped_content)
        ERASERS.register(erase_reviews_of)
        CHECK_ITEM_FINDERS.register(mapped_items)
        EDITION_LISTENERS.register(mark_suspects)
        SWITCH_CHECKS.register(check_switch)
        GRAPH_MASTERS.register(CheckItems())


def _load_shipped_content() -> None:
    from knowledge.graph.masters import sync_masters  # models are not loaded yet when this module is
    from review.shipped import load_shipped_content

    load_shipped_content()
    sync_masters()  # beat does so when masters change; documents may come in before the first time
