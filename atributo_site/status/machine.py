"""What is wrong with this machine and its way to the database: clock, speed, disk, settings."""

import os
import shutil
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from atributo_site.config.env_file import with_env_file
from atributo_site.config.environment import Environment
from atributo_site.config.places import env_file
from atributo_site.config.variables import variables_of
from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.models.clock import database_now

LARGEST_SKEW_SECONDS = 2.0  # between the clock of this machine and the database's
SLOW_SECONDS = 3.0  # for a short answer of the database
MEGABYTE = 1024 * 1024
ENV_FILE = env_file()
HOST = socket.gethostname()  # the curator that stores it may run elsewhere than the page
OF_THE_CLIENT = {"ATRIBUTO_URL", "ATRIBUTO_TOKEN"}  # where programs on this machine find a site


def symptoms(snapshot: dict[str, Any]) -> list[Symptom]:
    """Judge by the process that looks; another machine may be fine."""
    return [
        *_clock(snapshot.get("clock_skew_seconds", 0.0)),
        *_slow(snapshot.get("database", {}).get("answer_seconds", 0.0)),
        *_disk(free_bytes()),
        *_settings(unknown_settings()),
    ]


def free_bytes() -> int:
    """Return what is free where the state of the installation is kept."""
    folder = Path(settings.ATRIBUTO.var_dir).absolute()
    while not folder.exists():  # a project need not have it
        folder = folder.parent
    return shutil.disk_usage(folder).free


def unknown_settings() -> list[str]:
    """Return mistyped names, which would otherwise silently change nothing."""
    if settings.ATRIBUTO.mode == "test":  # tests have more of them
        return []
    given = with_env_file(os.environ, ENV_FILE)
    known = {variable.name for variable in variables_of(Environment).values()}
    return sorted({name for name in given if name.startswith("ATRIBUTO_")} - known - OF_THE_CLIENT)


def of_site(
    thing: str,
    trouble: str,
    title: str,
    detail: str,
    command: str = "manage.py doctor",
    severity: str = Severity.WARNING,
) -> Symptom:
    return Symptom(
        kind=f"{thing}.{trouble}",
        subject=f"site:{thing}",
        severity=severity,
        title=title,
        detail=detail,
        command=command,
    )


def clock_skew_seconds() -> float:
    """Return how far the clock here is ahead of the database's, however late that answers."""
    return skew(_here(), database_now(), _here())


def skew(before: datetime, there: datetime, after: datetime) -> float:
    """Return by how many seconds an answer lies before it was asked for, or (negative) after."""
    if there < before:
        return (before - there).total_seconds()
    return min(0.0, (after - there).total_seconds())


def _here() -> datetime:
    return datetime.now(UTC)


def _clock(skew_seconds: float) -> list[Symptom]:
    if abs(skew_seconds) <= LARGEST_SKEW_SECONDS:
        return []
    title = f"The clocks of {HOST} and the database differ by {abs(skew_seconds):.0f}s"
    detail = (
        "Times on pages, ids and back-offs are off by as much. Run a time service (NTP) on both."
    )
    return [of_site("clock", "skewed", title, detail)]


def _slow(answer_seconds: float) -> list[Symptom]:
    if answer_seconds <= SLOW_SECONDS:
        return []
    title = f"The database took {answer_seconds:.0f}s for a short answer"
    detail = "Everything waits for it. Check its load, its disk and the network in between."
    return [of_site("database", "slow", title, detail)]


def _disk(free: int) -> list[Symptom]:
    if free >= settings.ATRIBUTO.least_free_mb * MEGABYTE:
        return []
    title = f"The disk of {settings.VAR_DIR} on {HOST} is almost full"
    detail = f"{free // MEGABYTE:,} MB are free. When none is, nothing can be stored."
    return [of_site("disk", "full", title, detail, severity=Severity.ERROR)]


def _settings(unknown: list[str]) -> list[Symptom]:
    return [
        Symptom(
            kind="setting.unknown",
            subject=f"setting:{name}",
            severity=Severity.WARNING,
            title=f"{name} is not a setting",
            detail=f"It is set on {HOST} and has no effect: another name may be meant.",
            command="manage.py doctor",
        )
        for name in unknown
    ]
