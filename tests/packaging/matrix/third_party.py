"""A project of others: Wagtail's, with its own users, admin and tests, gets the six lines.

Wagtail comes from PyPI, and `wagtail start` makes the project.
"""

import re
import shutil
from pathlib import Path

from tests.packaging.environment import ROOT
from tests.packaging.matrix import environments
from tests.packaging.matrix.environments import Failed, run
from tests.packaging.matrix.pairs import Pair
from tests.servers.valkey import ValkeyServer

LOOK = Path(__file__).parent / "in_wagtail.py"
OWN_CHECKS = (["check"], ["makemigrations", "--check", "--dry-run"], ["test"])
OURS_FIRST = ("atributo_site", "queues", "pools", "allocation", "knox")
URL = '    path("ops/", include("atributo_site.urls")),\n'


def third_party(pair: Pair, wheel: Path) -> str:
    """Its own checks pass without our lines, with them, and after they are taken out again."""
    python = environments.made(f"wagtail-{pair.name}", pair, [wheel, "wagtail"])
    folder = environments.FOLDER / "work" / f"wagtail-{pair.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    project = _Project(pair, python, folder)
    project.own_checks()
    with ValkeyServer() as server:
        before = project.lines_added(server.url)
        project.manage("migrate", "--verbosity", "0")
        project.own_checks()
        project.python(LOOK, "push")
        project.manage("worker", "--burst", "mail")
        project.manage("run_curator", "--once")
        if (seen := project.python(LOOK, "look").splitlines()[-1]) != "everything was seen":
            raise Failed(seen)
        for app in OURS_FIRST:
            project.manage("migrate", app, "zero", "--verbosity", "0")
    project.restore(before)
    project.own_checks()
    return f"Wagtail {project.version()}"


class _Project:
    def __init__(self, pair: Pair, python: Path, folder: Path) -> None:
        self._log, self._python, self._bin = f"wagtail-{pair.name}", python, python.parent
        self._folder = folder / "mysite"
        start = [self._bin / "wagtail", "start", "mysite"]
        run(self._log, start, cwd=folder)
        self.settings = self._folder / "mysite" / "settings" / "base.py"
        self.urls = self._folder / "mysite" / "urls.py"

    def manage(self, *words: str) -> str:
        return self.python("manage.py", *words)

    def python(self, *words: object) -> str:
        environ = {"DJANGO_SETTINGS_MODULE": "mysite.settings.dev", "PYTHONPATH": "."}
        return run(self._log, [self._python, *words], cwd=self._folder, append=True, **environ)

    def own_checks(self) -> None:
        for words in OWN_CHECKS:
            self.manage(*words)

    def version(self) -> str:
        return self.python("-c", "import wagtail; print(wagtail.__version__)").strip()

    def lines_added(self, redis_url: str) -> tuple[str, str]:
        """Add the lines of the README; return the files as they were."""
        before = (self.settings.read_text(), self.urls.read_text())
        apps, redis = _lines_of_the_readme()
        redis = re.sub(r"redis://[^\"]+", redis_url, redis)
        self.settings.write_text(f"{before[0]}\n{apps}\n{redis}\n")
        self.urls.write_text(before[1].replace("urlpatterns = [\n", f"urlpatterns = [\n{URL}", 1))
        return before

    def restore(self, before: tuple[str, str]) -> None:
        self.settings.write_text(before[0])
        self.urls.write_text(before[1])


def _lines_of_the_readme() -> tuple[str, str]:
    part = (ROOT / "README.md").read_text().partition("## In your Django project\n")[2]
    lines = re.findall(r"^    (.+)$", part.partition("\n## ")[0], re.M)
    return lines[0], lines[1]
