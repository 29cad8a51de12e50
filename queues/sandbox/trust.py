"""Trust files as code only if nobody but us and root can have written them."""

import grp
import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from queues.errors import ScriptNotFound

MOST_REASONS = 20


def trusted_file(folder: Path, path: str) -> Path:
    """Return the file; refuse it if it or its folder is not below a root, links followed."""
    roots = [Path(root).resolve() for root in settings.ATRIBUTO.service_roots]
    file = (folder / path).resolve()
    root = next((root for root in roots if file.is_relative_to(root)), None)
    if root is None:
        raise ScriptNotFound(f"{path} is outside the service roots", path=path)
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        raise ScriptNotFound(f"{path} is no file of the service", path=path)
    for place, reason in on_the_way(root, file):
        name = path if place == file else place
        raise ScriptNotFound(f"{name} {reason}", path=path)
    return file


def distrust(path: Path) -> str:
    """Return why somebody else may have written a file or changed a folder, or nothing."""
    facts = path.stat()
    mode = facts.st_mode
    if facts.st_uid not in _owners():
        return f"belongs to {_user(facts.st_uid)}, who is neither its worker's user nor root"
    if mode & 0o002:
        return f"may be changed by everybody (mode {mode & 0o7777:04o}): chmod o-w"
    if mode & 0o020 and not _is_alone(facts.st_gid, facts.st_uid):
        return f"may be changed by the group {_group(facts.st_gid)}: chmod g-w"
    return ""


def is_private(group: Any, user: Any) -> bool:
    """Return whether a group is the user's own, without other members: umask 002 relies on it."""
    alone = set(group.gr_mem) <= {user.pw_name}
    return user.pw_gid == group.gr_gid and group.gr_name == user.pw_name and alone


def on_the_way(root: Path, file: Path) -> Iterator[tuple[Path, str]]:
    """Return what is not trusted from the root down to the file, and why."""
    for path in (*reversed(file.parents), file):
        if path.is_relative_to(root) and (reason := distrust(path)):
            yield path, reason


def below(folder: Path) -> list[str]:
    """Return the same for all in a service's folder; what a script may import is code, too."""
    reason = distrust(folder)
    reasons = [f"the folder {reason}"] if reason else []
    for place, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(place, name)
            if not path.is_symlink() and (reason := distrust(path)):
                reasons.append(f"{path.relative_to(folder)} {reason}")
    return sorted(reasons)[:MOST_REASONS]


def _is_alone(gid: int, uid: int) -> bool:
    try:
        return is_private(grp.getgrgid(gid), pwd.getpwuid(uid))
    except KeyError:  # an id without a name, as in many containers
        return False


def _owners() -> set[int]:
    """Return who may change this program: they gain nothing by changing a service."""
    return {os.geteuid(), 0, Path(__file__).stat().st_uid}


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
