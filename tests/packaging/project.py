"""A project of somebody else, made by `django-admin startproject`, with our wheel installed."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.packaging.environment import Environment
from tests.servers.patient_http import answers
from tests.servers.waiting import wait_until

HOST = Path(__file__).parent / "host"
OF_POSTGRESQL = """
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": {name!r},
             "HOST": {host!r}, "USER": {user!r}}}}}
"""


class Project:
    def __init__(self, installed: Environment, folder: Path, redis_url: str = "") -> None:
        self.installed, self.folder = installed, folder
        self.environ = {"DJANGO_SETTINGS_MODULE": "shop.settings"}
        self.environ |= {"REDIS_URL": redis_url} if redis_url else {}
        folder.mkdir(exist_ok=True)
        installed.output("python", "-m", "django", "startproject", "shop", ".", cwd=folder)
        shutil.copytree(HOST, folder, dirs_exist_ok=True)
        shutil.copy(HOST / "shop_urls.py", folder / "shop" / "urls.py")
        self.add((HOST / "shop_settings.py").read_text())

    @property
    def settings(self) -> Path:
        return self.folder / "shop" / "settings.py"

    def add(self, lines: str) -> None:
        """Add lines to the end of its settings."""
        self.settings.write_text(f"{self.settings.read_text()}\n{lines}\n")

    def manage(self, *words: str, **environ: str) -> str:
        return self.python("manage.py", *words, **environ)

    def python(self, *words: str, **environ: str) -> str:
        return self.installed.output("python", *words, cwd=self.folder, **self.environ | environ)

    def fails(self, *words: str, **environ: str) -> str:
        """Run a command that must fail, and return what it says about it."""
        env = self.environ | environ
        ended = self.installed.run("python", "manage.py", *words, cwd=self.folder, **env)
        assert ended.returncode != 0, ended.stdout
        return ended.stderr

    @contextmanager
    def served(self, port: int) -> Iterator[subprocess.Popen[str]]:
        """Run its own web server at a port; it is killed at the end."""
        words = ("python", "manage.py", "runserver", "--noreload", str(port))
        asked = self.installed.asked(*words, cwd=self.folder, **self.environ)
        with (
            (self.folder / "server.log").open("w") as log,
            subprocess.Popen(**asked, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
        ):
            try:
                wait_until(lambda: answers(f"http://127.0.0.1:{port}/ops"), 60)
                yield process
            finally:
                process.kill()

    def answer(self, *words: str) -> Any:
        """Return the JSON in the last line that a program printed."""
        return json.loads(self.python(*words).splitlines()[-1])
