from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccessConfig(AppConfig):
    name = "hub.access"
    label = "access"
    verbose_name = _("Access")
    default_auto_field = "django.db.models.BigAutoField"
