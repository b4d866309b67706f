from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EvaluationConfig(AppConfig):
    name = "hub.evaluation"
    label = "evaluation"
    verbose_name = _("Evaluation")

    def ready(self) -> None:
        from hub.access.rights import RIGHTS  # models are not loaded yet when this module is
        from hub.evaluation.models import EvaluationDataset

        RIGHTS.register(EvaluationDataset.objects.rights_of)
