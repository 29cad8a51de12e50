"""What the first start of an installation makes: tables, static files, an administrator."""

import hashlib
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from allocation.events import record
from atributo_site.state_folder import unusable

# Folders that no page of ours uses; compressing them would double the time of the first start.
UNUSED_STATIC = ["redoc", "rest_framework", "django_rq", "knox"]


def migrate() -> bool:
    """Apply what is missing; False when nothing was."""
    if not pending_migrations():
        return False
    call_command("migrate", verbosity=0, interactive=False)
    return True


def pending_migrations() -> list[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [str(migration) for migration, _ in plan]


def collect_static() -> bool:
    """Collect only when a source file has changed, since compressing them takes seconds."""
    mark = Path(settings.STATIC_ROOT) / ".collected"
    now = _sources_fingerprint()
    try:
        if mark.exists() and mark.read_text() == now:
            return False
        _collect()
        mark.write_text(now)
    except OSError as error:  # a full disk, as a rule
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
    """Name and password of the administrator made now; None when a user exists already."""
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
