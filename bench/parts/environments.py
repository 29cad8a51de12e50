"""Give peers environments of their own below var/bench, with their newest versions."""

import subprocess
import venv
from collections.abc import Iterable
from pathlib import Path

VAR = Path(__file__).resolve().parents[2] / "var" / "bench"
QUIETLY = ["-q", "--disable-pip-version-check"]


def python_of(name: str, packages: Iterable[str]) -> str:
    """Return the interpreter of the environment of that name, which is made on first use."""
    folder = VAR / name
    python, stamp = folder / "bin" / "python", folder / "installed"
    if not stamp.exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", *QUIETLY, *packages], check=True)
        stamp.touch()
    return str(python)


def versions_of(python: str, packages: Iterable[str]) -> str:
    """Return the versions of the packages that were asked for, as pip writes them."""
    command = [python, "-m", "pip", "freeze", "--disable-pip-version-check"]
    frozen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    wanted = {package.partition("[")[0].lower() for package in packages}
    return " ".join(line for line in frozen.split() if line.lower().split("==")[0] in wanted)
