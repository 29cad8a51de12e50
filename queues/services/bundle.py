"""Read a service from the disk and check it as a whole before anything is touched."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from queues.errors import BadService, ScriptNotFound
from queues.logic.manifest import Manifest, ScriptEntry, read, well_formed_scripts
from queues.models import Script, Service
from queues.sandbox import trust
from queues.schema.validation import schema_error

ASYNC_JOBS = 100


@dataclass(frozen=True)
class Bundle:
    folder: Path
    manifest: Manifest

    def fill(self, service: Service) -> None:
        """Write what the manifest says into the row."""
        service.folder = str(self.folder)
        service.name = self.manifest.name
        service.version = self.manifest.version
        service.description = self.manifest.description
        service.definitions = self.manifest.configuration

    def scripts(self, service: Service) -> list[Script]:
        return [
            Script(
                service=service,
                name=entry.name,
                path=entry.path,
                title=entry.title,
                description=entry.description,
                schema=entry.schema,
                defaults=entry.defaults,
                record_start=entry.record_start,
                limits=entry.limits,
                threads=self._threads(entry),
            )
            for entry in self.manifest.scripts.values()
        ]

    def _threads(self, entry: ScriptEntry) -> int:
        """Return how many jobs one process runs at once: many of an `async def`, unless told."""
        if entry.threads is not None or entry.record_start:
            return entry.threads or 1
        return ASYNC_JOBS if _is_async(self.folder / entry.path) else 1


def opened(folder: str) -> Bundle:
    """Read a folder below a service root, or raise BadService with every reason."""
    path = located(folder)
    given = _json(path / "manifest.json")
    manifest, errors = read(given)
    errors += trust.below(path)
    errors += [error for entry in well_formed_scripts(given) for error in _file_errors(path, entry)]
    if manifest is None or errors:
        raise BadService(f"{folder} cannot be installed: {'; '.join(errors)}", errors=errors)
    return Bundle(path, manifest)


def _is_async(path: Path) -> bool:
    """Return whether `run` is an `async def`; the code is read, not executed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # its run will say what is wrong
    return any(isinstance(each, ast.AsyncFunctionDef) and each.name == "run" for each in tree.body)


def located(folder: str) -> Path:
    """Return the folder itself, links followed; outside the roots there is no code."""
    if "\x00" in folder or ".." in Path(folder).parts:
        raise _refused(folder, "the folder must not contain ..")
    for root in (Path(root).resolve() for root in settings.ATRIBUTO.service_roots):
        path = _folder(root / folder)
        if path is not None and path != root and path.is_relative_to(root):
            return path
    raise _refused(folder, "there is no such folder below the service roots")


def _folder(path: Path) -> Path | None:
    """Return where it really is, or None when it is no folder, or no path at all."""
    try:
        return path.resolve() if path.is_dir() else None
    except (OSError, ValueError):
        return None


def available() -> list[str]:
    """Return folders below the roots that have a manifest."""
    roots = [Path(root) for root in settings.ATRIBUTO.service_roots]
    names = {path.parent.name for root in roots for path in root.glob("*/manifest.json")}
    return sorted(names)


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError as error:
        raise _refused(path.parent.name, "there is no manifest.json") from error
    except (ValueError, OSError, RecursionError) as error:
        raise _refused(path.parent.name, f"manifest.json is not JSON: {error}") from error


def _file_errors(folder: Path, entry: ScriptEntry) -> list[str]:
    try:
        text = trust.trusted_file(folder, entry.path).read_text()
        ast.parse(text, entry.path)
    except ScriptNotFound as error:
        return [f"script {entry.name}: {error}"]
    except (SyntaxError, ValueError) as error:
        return [f"script {entry.name}: {entry.path} has a syntax error: {error}"]
    except OSError as error:
        return [f"script {entry.name}: {entry.path[:100]} cannot be read: {error.strerror}"]
    wrong = schema_error(entry.schema) if entry.schema else None
    return [f"script {entry.name}: schema: {wrong}"] if wrong else []


def _refused(folder: str, reason: str) -> BadService:
    return BadService(f"{folder} cannot be installed: {reason}", errors=[reason])
