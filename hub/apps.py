from django.apps import AppConfig
from django.conf import settings

from hub.core.tracing import Collector, trace_to
from hub.version import hub_version


class HubConfig(AppConfig):
    name = "hub"
    verbose_name = "Hub"

    def ready(self) -> None:
        # shared tasks bind to the current Celery app: every process must have loaded ours
        from hub import celery  # noqa: F401

        config = settings.CONFIG
        if config.otel_exporter_otlp_endpoint:
            trace_to(
                Collector(
                    url=config.otel_exporter_otlp_endpoint,
                    headers=config.otel_exporter_otlp_headers,
                    share=config.hub_trace_share,
                    service=config.otel_service_name,
                    version=hub_version(),
                )
            )
