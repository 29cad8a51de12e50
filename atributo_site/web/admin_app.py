"""The Django app of the raw lists, apart from that of the site: to name it loads all of admin."""

from django.contrib.admin import apps


class AdminConfig(apps.SimpleAdminConfig):
    """Load no raw list before `urls` does."""

    default_site = "atributo_site.web.admin_site.AtributoAdminSite"
