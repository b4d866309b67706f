from django.apps import AppConfig


class HubConfig(AppConfig):
    name = "hub"
    verbose_name = "Hub"

    def ready(self) -> None:
        # shared tasks bind to the current Celery app: every process must have loaded ours
        from hub import celery  # noqa: F401
