from django.apps import AppConfig
from django.contrib.admin import apps

from allocation.inherited import watch_forks


class SiteConfig(AppConfig):
    name = "atributo_site"
    verbose_name = "Site"

    def ready(self) -> None:
        watch_forks()


class AdminConfig(apps.AdminConfig):
    default_site = "atributo_site.admin_site.AtributoAdminSite"
