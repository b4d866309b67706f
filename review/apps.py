from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from hub.core.shipped_content import load_after_migrations


class ReviewConfig(AppConfig):
    name = "review"
    verbose_name = _("Review")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from hub.access.rights import ask_for_ids  # models are not loaded yet when this module is
        from knowledge.documents.deletion import erase_with
        from knowledge.embedding_sets.switching import check_before_switch
        from knowledge.guidelines.editions import find_check_items_with, notify_of_editions
        from knowledge.ports import register_graph_master
        from review.erasure import erase_reviews_of
        from review.evaluation.gate import check_switch
        from review.graph_master import CheckItems
        from review.mappings import mapped_items, mark_suspects
        from review.models import Finding, Review

        ask_for_ids("rev", Review.objects.any_hidden)
        ask_for_ids("fnd", Finding.objects.any_hidden)
        load_after_migrations(self, _load_shipped_content)
        erase_with(erase_reviews_of)
        find_check_items_with(mapped_items)
        notify_of_editions(mark_suspects)
        check_before_switch(check_switch)
        register_graph_master(CheckItems())


def _load_shipped_content() -> None:
    from knowledge.graph.masters import sync_masters  # models are not loaded yet when this module is
    from review.shipped import load_shipped_content

    load_shipped_content()
    sync_masters()  # beat does so when masters change; documents may come in before the first time
