"""An environment with our wheel and nothing of the checkout on its path."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
KEPT = ("PATH", "LANG", "TMPDIR")


class Environment:
    """A venv that sees the packages of this one, so that only our wheel is installed anew."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "venv" / "bin"
        self.wheels = folder / "wheels"

    def make(self, source: Path = ROOT) -> None:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", self.wheels]
        _run(build, cwd=source)
        _run([sys.executable, "-m", "venv", "--without-pip", self.bin.parent])
        (self.packages / "shared.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet"]
        alone = ["--no-deps", "--no-index", "--ignore-installed", "--disable-pip-version-check"]
        _run([*pip, *alone, self.wheel])

    @property
    def python(self) -> Path:
        return self.bin / "python"

    @property
    def packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.bin.parent / "lib" / version / "site-packages"

    @property
    def wheel(self) -> Path:
        return next(self.wheels.glob("*.whl"))

    def run(self, *words: object, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in another folder, with no variable of the tests."""
        asked = self.asked(*words, cwd=cwd, **environ)
        return subprocess.run(**asked, capture_output=True, timeout=300)

    def asked(self, *words: object, cwd: Path, **environ: str) -> dict[str, Any]:
        """Return what `subprocess` needs to know for that."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {
            "args": [self.bin / str(words[0]), *map(str, words[1:])],
            "cwd": cwd,
            "env": {**kept, "HOME": str(cwd), **environ},
            "text": True,
        }

    def output(self, *words: object, cwd: Path, **environ: str) -> str:
        """Run it and return what it printed; it must succeed."""
        ended = self.run(*words, cwd=cwd, **environ)
        assert ended.returncode == 0, f"{words}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout


def _run(words: list[object], cwd: Path = ROOT) -> None:
    """Run a tool that this process could import itself; it must succeed."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        list(map(str, words)), cwd=cwd, env=env, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, f"{words}\n{ended.stdout}\n{ended.stderr}"
