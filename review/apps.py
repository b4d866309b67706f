from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from hub.core.shipped_content import load_after_migrations


class ReviewConfig(AppConfig):
    name = "review"
    verbose_name = _("Review")

    def ready(self) -> None:
        from hub.access.rights import HIDDEN_IDS  # models are not loaded yet when this module is
        from knowledge.extensions import ERASERS, GRAPH_MASTERS, SWITCH_CHECKS
        from knowledge.guidelines.editions import CHECK_ITEM_FINDERS, EDITION_LISTENERS
        from review.models import Finding, Review

        HIDDEN_IDS.register(("rev", Review.objects.any_hidden))
        HIDDEN_IDS.register(("fnd", Finding.objects.any_hidden))
        load_after_migrations(self, _load_shipped_content)
        ERASERS.register_named("review.erasure.erase_reviews_of")
        CHECK_ITEM_FINDERS.register_named("review.mappings.mapped_items")
        EDITION_LISTENERS.register_named("review.mappings.mark_suspects")
        SWITCH_CHECKS.register_named("review.evaluation.gate.check_switch")
        GRAPH_MASTERS.register_named("review.graph_master.CHECK_ITEMS")


def _load_shipped_content() -> None:
    from knowledge.graph.masters import sync_masters  # models are not loaded yet when this module is
    from review.shipped import load_shipped_content

    load_shipped_content()
    sync_masters()  # beat does so when masters change; documents may come in before the first time
