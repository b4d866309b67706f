"""The admin app with the hub's own site; in INSTALLED_APPS in place of ``django.contrib.admin``."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class HubAdminConfig(AdminConfig):
    default_site = "hub.admin_site.site.HubAdminSite"
