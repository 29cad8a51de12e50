"""Prepare an installation: one supervisor per state folder, tables, static files, first user."""

import fcntl
import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration

from atributo_site.config.state_folder import unusable
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.core.postgresql import pending_indexes

# No page of ours uses these folders; compressing them would double the time of a first start.
UNUSED_STATIC = ["redoc", "rest_framework", "django_rq", "knox"]


def migrate() -> bool:
    """Apply the missing migrations; return False if there were none."""
    executor = MigrationExecutor(connection)
    if _plan(executor) or pending_indexes.pending(connection):
        call_command("migrate", verbosity=0, interactive=False)
        return True
    executor.check_replacements()  # an older release applied what is squashed in this one
    return False


def pending_migrations() -> list[str]:
    return [str(migration) for migration in _plan(MigrationExecutor(connection))]


def _plan(executor: MigrationExecutor) -> list[Migration]:
    leaves = executor.loader.graph.leaf_nodes()
    return [migration for migration, _ in executor.migration_plan(leaves)]


def collect_static() -> bool:
    """Collect only when a source file has changed, since compressing takes seconds."""
    mark = Path(settings.STATIC_ROOT) / ".collected"
    now = _sources_fingerprint()
    try:
        if mark.exists() and mark.read_text() == now:
            return False
        _collect()
        mark.write_text(now)
    except OSError as error:  # usually a full disk
        raise unusable(error) from error
    return True


def _collect() -> None:
    call_command(
        "collectstatic",
        verbosity=0,
        interactive=False,
        clear=True,
        ignore_patterns=UNUSED_STATIC,
    )


def _sources_fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list(UNUSED_STATIC):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path}:{stat.st_size}:{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def first_administrator() -> tuple[str, str] | None:
    """Return name and password of the administrator made now; None if a user exists already."""
    User = get_user_model()
    if User.objects.exists():
        return None
    name = settings.ATRIBUTO.admin_user
    password = settings.ATRIBUTO.admin_password or secrets.token_urlsafe(12)
    with transaction.atomic():
        user = User.objects.create_superuser(name, password=password)
        user.groups.add(Group.objects.get(name="admin"))
        record("user.created", f"user:{name}", role="admin", first=True)
    return name, password


class AlreadyRunning(AtributoError):
    status_code = 409
    code = "already_running"


class Claim:
    """Hold an advisory lock, which the system frees with the process, however it ends."""

    def __init__(self, var_dir: Path) -> None:
        self._file = open(var_dir / "up.lock", "a+")  # noqa: SIM115 - held on
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = self._read()
            self.close()
            raise AlreadyRunning(_who_runs(who, var_dir)) from None

    def note(self, **facts: Any) -> None:
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), **facts}, self._file)
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _read(self) -> dict[str, Any]:
        self._file.seek(0)
        text = self._file.read()
        return json.loads(text) if text else {}


def _who_runs(facts: dict[str, Any], var_dir: Path) -> str:
    process = facts.get("pid", "unknown, still starting")
    address = f" at {facts['address']}" if "address" in facts else ""
    return f"Atributo already runs on {var_dir}{address} (process {process}). Stop it first."


class NotUp(AtributoError):
    code = "not_up"


def not_up(name: str, log_path: Path) -> NotUp:
    lines = log_path.read_text(errors="replace").splitlines()[-15:] if log_path.exists() else []
    return NotUp("\n".join([f"{name} did not come up; the last lines of {log_path}:", *lines]))
