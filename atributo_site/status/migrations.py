"""Check that the tables are those of this release, without loading a migration."""

from pathlib import Path

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from atributo_site.core.errors import AtributoError
from atributo_site.core.text import runnable

OURS = ("allocation", "queues", "pools", "atributo_site")


class NotMigrated(AtributoError):
    status_code = 503
    code = "not_migrated"


def check_migrated() -> None:
    """Raise NotMigrated on the tables of an older release; wait for a database that is away."""
    try:
        applied = set(MigrationRecorder(connection).applied_migrations())
    except DatabaseError:
        return
    pending = [each for each in _of_this_release() if each not in applied]
    if pending:
        raise NotMigrated(
            f"{len(pending)} migrations are pending: {runnable('`manage.py migrate`')} comes first."
        )


def _of_this_release() -> list[tuple[str, str]]:
    """Leave out the squashed ones: what they replace is recorded with them, and before them."""
    return [
        (label, file.stem)
        for label in OURS
        for file in (Path(apps.get_app_config(label).path) / "migrations").glob("[0-9]*.py")
        if "_squashed_" not in file.stem
    ]
