from django.apps import AppConfig
from django.contrib.admin import apps


class SiteConfig(AppConfig):
    name = "atributo_site"
    verbose_name = "Site"


class AdminConfig(apps.AdminConfig):
    default_site = "atributo_site.admin_site.AtributoAdminSite"
