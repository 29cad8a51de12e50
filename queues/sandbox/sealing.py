"""Give up credentials, descriptors and privileges before a script is loaded."""

import ctypes
import os
import resource
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace

from django.conf import settings
from django.db import connections

ALLOWED = {"PATH", "HOME", "LANG", "TZ", "TMPDIR", "VIRTUAL_ENV"}
ALLOWED_BEGINNINGS = ("LC_", "PYTHON")
ENV_START, ENV_END = 50, 51  # fields of /proc/self/stat, counted from 1
PR_CAPBSET_DROP = 24
CAP_SYS_PTRACE, CAP_SYS_RESOURCE = 19, 24
KILLED_FIRST = 500  # of 1000
CAPABILITY_VERSION = 0x20080522
SETS = ("effective", "permitted", "inheritable")


def for_scripts(environ: Mapping[str, str], more: Collection[str]) -> dict[str, str]:
    """Return the variables that a script may see."""
    return {
        name: value
        for name, value in environ.items()
        if name in ALLOWED or name in more or name.startswith(ALLOWED_BEGINNINGS)
    }


def hide_environment() -> None:
    """Leave in /proc/PID/environ what scripts may see; `os.environ` itself stays as it is.

    A script may read that file of every process of its user, its worker's included.
    """
    block = _environment_block()
    if block is None:
        return
    start, size = block
    whole = dict(os.environ)
    visible = b"".join(
        os.fsencode(f"{name}={value}") + b"\0"
        for name, value in for_scripts(whole, settings.ATRIBUTO.script_env).items()
    )
    os.environ.clear()  # nothing of the C library may point into the block any more
    ctypes.memset(start, 0, size)
    ctypes.memmove(start, visible[: size - 1], min(len(visible), size - 1))
    os.environ.update(whole)


def _environment_block() -> tuple[int, int] | None:
    """Return address and size of the environment at start; None where nobody tells."""
    try:
        with open("/proc/self/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    start, end = int(fields[ENV_START - 3]), int(fields[ENV_END - 3])
    return (start, end - start) if 0 < start < end else None


def forget_credentials() -> None:
    """Drop the secret key: scripts sign nothing, unless a setting lets functions sign.

    The database's password stays.
    """
    whole = dict(os.environ)
    os.environ.clear()
    os.environ.update(for_scripts(whole, settings.ATRIBUTO.script_env))
    if settings.ATRIBUTO.task_secret_key:
        return
    kept = replace(settings.ATRIBUTO, secret_key="", old_secret_key="")
    nothing = {"SECRET_KEY": "", "SECRET_KEY_FALLBACKS": [], "ATRIBUTO": kept}
    for place in (settings, sys.modules.get(settings.SETTINGS_MODULE)):
        for name, value in nothing.items() if place is not None else ():
            setattr(place, name, value)


def let_go_of_descriptors(kept: Collection[int]) -> None:
    """Make the other descriptors lead nowhere.

    They are not closed, because objects that own a number still live. SQLite keeps its own where a
    copied process has them: it shares them with new connections.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in open_descriptors():
        if number not in {1, 2, nowhere, *kept} and not is_of_sqlite(place_of(number)):
            with suppress(OSError):  # the one by which they were listed
                os.dup2(nowhere, number, inheritable=number == 0)
    os.close(nowhere)


def open_descriptors() -> set[int]:
    """Return their numbers; the one that lists them is among them."""
    try:
        return {int(name) for name in os.listdir("/proc/self/fd")}
    except OSError:  # not Linux
        return set()


def place_of(number: int) -> str:
    """Return what a descriptor leads to; nothing when it is closed, as the one that listed them."""
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return ""


def is_of_sqlite(place: str) -> bool:
    """Return whether it is a database file of ours, or what SQLite keeps beside it."""
    known = connections.settings.values()
    names = [each["NAME"] for each in known if each["ENGINE"].endswith("sqlite3")]
    return any(place.startswith(os.path.realpath(name)) for name in names)


def be_killed_first() -> None:
    """Let the kernel end the script, not its worker, when the machine's memory is used up."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+") as file:
        score = max(int(file.read()), KILLED_FIRST)
        file.seek(0)
        file.write(str(score))


def limit_memory(more_bytes: int) -> None:
    """Let an allocation beyond the limit fail inside the script, which cannot raise it again."""
    try:
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # not Linux: the parent still watches
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + more_bytes
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    _drop_capabilities({CAP_SYS_RESOURCE, CAP_SYS_PTRACE})


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Sets(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in SETS]


def _drop_capabilities(unwanted: Collection[int]) -> None:
    """Drop what lets root raise limits and look into other processes."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "capset"):
        return
    header, sets = _Header(CAPABILITY_VERSION, 0), (_Sets * 2)()
    libc.capget(ctypes.byref(header), ctypes.byref(sets))
    for number in unwanted:
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
        for name in SETS:
            setattr(sets[0], name, getattr(sets[0], name) & ~(1 << number))
    libc.capset(ctypes.byref(header), ctypes.byref(sets))
