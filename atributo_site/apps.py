"""The Django apps of the site, and the admin site that it uses."""

from django.apps import AppConfig
from django.contrib.admin import apps

from atributo_site.core.forking import watch_forks


class SiteConfig(AppConfig):
    name = "atributo_site"
    verbose_name = "Site"

    def ready(self) -> None:
        watch_forks()


class AdminConfig(apps.AdminConfig):
    default_site = "atributo_site.web.admin_site.AtributoAdminSite"
