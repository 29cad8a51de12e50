"""The Django app of the site: on its own, or inside a project with settings of its own."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from atributo_site.core.forking import watch_forks

ROOMS = ("allocation", "queues", "pools")
HOME = Path(__file__).resolve().parents[1]


class SiteConfig(AppConfig):
    name = "atributo_site"
    verbose_name = "Site"
    default_auto_field = "django.db.models.BigAutoField"
    refusals: list[str] = []  # settings of a project that cannot be used; a check names them

    def __init__(self, app_name: str, app_module: Any) -> None:
        super().__init__(app_name, app_module)
        _refuse_hidden_packages()
        _refuse_clashing_labels()
        from atributo_site.config.environment import Environment

        if not isinstance(getattr(settings, "ATRIBUTO", None), Environment):
            self._read()

    def import_models(self) -> None:
        _refuse_missing_apps()
        super().import_models()

    def ready(self) -> None:
        from atributo_site import checks  # noqa: F401 - registers them

        if not settings.ATRIBUTO.is_hosted:
            watch_forks()
            return
        from atributo_site.config.logs import pass_on

        pass_on()

    def _read(self) -> None:
        """Put what the project gave into the form that our code reads."""
        from atributo_site.config.hosted import read_hosted

        given = getattr(settings, "ATRIBUTO", {})
        queues = getattr(settings, "RQ_QUEUES", None)
        env, self.refusals = read_hosted(given, os.environ, queues, debug=settings.DEBUG)
        settings.ATRIBUTO = env


def _refuse_hidden_packages() -> None:
    """Say which package of the project has the name of ours: nothing could be imported."""
    for room in ROOMS:
        found = find_spec(room)
        where = str(found and found.origin)
        if HOME not in Path(where).resolve().parents:
            raise ImproperlyConfigured(
                f"The package '{room}' of Atributo is hidden by {where}. "
                "Rename your package, or move it below another one."
            )


def _refuse_clashing_labels() -> None:
    """Say whose label clashes and what helps: Django would name the label alone."""
    for label in ROOMS:
        theirs = apps.app_configs.get(label)
        if theirs is not None and theirs.name != label:
            other = theirs.name.replace(".", "_")
            raise ImproperlyConfigured(
                f"The app '{theirs.name}' has the label '{label}', as an app of Atributo has. "
                f"Give yours another one in its AppConfig: label = '{other}'."
            )


def _refuse_missing_apps() -> None:
    """Say which apps are missing, before the first model that needs one of them is imported."""
    missing = [name for name in (*ROOMS, "knox") if not apps.is_installed(name)]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise ImproperlyConfigured(f"INSTALLED_APPS lacks {names}, which Atributo needs.")
