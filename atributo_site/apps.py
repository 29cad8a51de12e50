"""The Django app of the site."""

from django.apps import AppConfig

from atributo_site.core.forking import watch_forks


class SiteConfig(AppConfig):
    name = "atributo_site"
    verbose_name = "Site"

    def ready(self) -> None:
        watch_forks()
