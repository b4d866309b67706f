from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EvaluationConfig(AppConfig):
    name = "hub.evaluation"
    label = "evaluation"
    verbose_name = _("Evaluation")
    default_auto_field = "django.db.models.BigAutoField"
