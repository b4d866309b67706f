"""The admin app with the hub's own site; in INSTALLED_APPS in place of ``django.contrib.admin``.

It loads no pages: :mod:`hub.admin_site.registered` does, for those who show them. Commands and workers don't.
"""

from __future__ import annotations

from django.contrib.admin.apps import SimpleAdminConfig


class HubAdminConfig(SimpleAdminConfig):
    default_site = "hub.admin_site.site.HubAdminSite"
