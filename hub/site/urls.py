"""Where everything answers. Errors under /api/ are problem details, elsewhere pages."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

import hub.admin_site.registered  # noqa: F401 (before others import some of the pages)
from hub.admin_site.site import begin_sign_in, end_sign_in
from hub.home.urls import urlpatterns as home_urls
from hub.rest.protected_resource import REST_PATH, WELL_KNOWN, describe_rest
from hub.site.api import api
from hub.site.health import healthz, metrics, readyz

urlpatterns = [
    path("api/v1/", api.urls),  # first, since addresses are tried in this order and programs call most often
    *home_urls,
    path("admin/sign-in/<slug:provider_id>/", begin_sign_in, name="sign-in"),
    path("admin/sign-in/<slug:provider_id>/callback/", end_sign_in, name="sign-in-callback"),
    path("admin/", admin.site.urls),
    path((WELL_KNOWN + REST_PATH).lstrip("/"), describe_rest),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("i18n/", include("django.conf.urls.i18n")),
]

handler400 = "hub.home.errors.bad_request"
handler403 = "hub.home.errors.permission_denied"
handler404 = "hub.home.errors.page_not_found"
handler500 = "hub.home.errors.server_error"
