"""Which pairs of Django and Python there are, and which of them can be tried on this machine."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13")
# Of each series the Pythons that it supports, and whether it has the Tasks API itself.
SERIES = {"5.2": PYTHONS, "6.0": PYTHONS[1:], "6.1": PYTHONS[1:]}
WITHOUT_TASKS = ("5.2",)


@dataclass(frozen=True)
class Pair:
    django: str
    python: str

    def __str__(self) -> str:
        return f"Django {self.django}, Python {self.python}"

    @property
    def name(self) -> str:
        return f"django{self.django}-python{self.python}"

    @property
    def has_tasks(self) -> bool:
        return self.django not in WITHOUT_TASKS


def all_pairs() -> list[Pair]:
    return [Pair(django, python) for django in SERIES for python in PYTHONS]


def chosen(words: list[str]) -> list[Pair]:
    """Return the pairs that a caller names, such as 6.1 or 6.0:3.12; all for no word."""
    named = {f"{pair.django}:{pair.python}": pair for pair in all_pairs()}
    wanted = [
        pair
        for text, pair in named.items()
        if not words or any(word in (text, pair.django, pair.python) for word in words)
    ]
    if not wanted:
        raise SystemExit(f"No pair is called {' '.join(words)}; there are {', '.join(named)}.")
    return wanted


def left_out(pair: Pair, find: Callable[[str], Path | None]) -> str:
    """Return why a pair is not tried; empty if it is."""
    if pair.python not in SERIES[pair.django]:
        return f"Django {pair.django} needs Python {SERIES[pair.django][0]}"
    return "" if find(pair.python) else f"Python {pair.python} is not on this machine"


def find_python(version: str) -> Path | None:
    """Return a Python of this version that starts: one of pyenv, or one on the path."""
    on_path = shutil.which(f"python{version}")
    found = [Path(on_path)] if on_path else []
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))]
    roots += [path.parents[1] for path in found if path.parent.name == "shims"]  # in another HOME
    of_pyenv = [each for root in roots for each in root.glob(f"versions/{version}.*/bin/python")]
    candidates = [*sorted(of_pyenv, key=_patch, reverse=True), *found]
    return next((each for each in candidates if _says(each) == version), None)


def _patch(path: Path) -> int:
    patch = path.parents[1].name.split(".")[-1]
    return int(patch) if patch.isdigit() else 0


def _says(python: Path) -> str:
    """Return the version that a Python says it has; a shim may point to none."""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    ended = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False)
    return ended.stdout.strip()
