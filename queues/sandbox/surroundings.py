"""Put back what a script changes besides its own values; where that fails, replace the process.

The first functions are called after every job and cost a few microseconds together. What costs more
to look at is looked at when a batch ends or another service follows.
"""

import _locale
import builtins
import decimal
import gc
import json
import locale
import logging
import os
import random
import resource
import signal
import socket
import sys
import threading
import time
import warnings
from _signal import (  # type: ignore[import-not-found]  # without enumerations, which are slow
    ITIMER_REAL,
    SIG_SETMASK,
    getsignal,
    pthread_sigmask,
    setitimer,
)
from _thread import _count as count_threads
from collections.abc import Callable, Sequence
from os import environ, getcwd, umask
from typing import Any

from django.db import connections

from queues.sandbox.offspring import end_children, has_children
from queues.sandbox.sealing import is_of_sqlite, open_descriptors, place_of

SIGNALS = tuple(range(1, 32))
TIMERS = (ITIMER_REAL, int(signal.ITIMER_VIRTUAL), int(signal.ITIMER_PROF))
LIMITS = tuple(number for name, number in vars(resource).items() if name.startswith("RLIMIT_"))
GUARDED = (builtins, json, os, random, signal, socket, threading, time)  # what we live on
POOL_THREADS = "pools-"  # a pool that a script keeps stays, with its threads and connections
STANDARD = (0, 1, 2)
MOST_DESCRIPTORS = 256  # of such pools
_names_before_fork: set[str] = set()


def note_modules() -> None:
    """Remember the modules before a fork: a list made after it copies a page for most names."""
    _names_before_fork.update(sys.modules)


class Surroundings:
    """The state of this process; call `note` before the first script."""

    def note(self, ours: Callable[[], set[int]] = set) -> None:
        """Remember the state; `ours` are descriptors that this process needs between two jobs."""
        self._ours = ours
        self._threads = count_threads()
        self._folder = os.getcwd()
        self._mask = os.umask(0o022)
        os.umask(self._mask)
        self._environment = dict(os.environ)
        self._variables = dict(os.environ._data)  # type: ignore[attr-defined]
        self._handlers = [*map(getsignal, SIGNALS)]
        self._blocked = pthread_sigmask(SIG_SETMASK, ())
        self._fixed = self._fixed_now()
        self._guarded = [dict(vars(module)) for module in GUARDED]
        self._standard = [*map(_identity, STANDARD)]
        self._descriptors = {each for each in open_descriptors() if place_of(each)}
        self._imports = Imports()

    def restored(self, *, wholly: bool) -> str:
        """Undo what the last job did; return in a word what cannot be undone, else nothing."""
        return self._left_over() or self._put_back() or (self._changed() if wholly else "")

    def belong_to(self, mount: str) -> bool:
        """Prepare for a job; True when modules of the service before were dropped."""
        return self._imports.belong_to(mount)

    def _left_over(self) -> str:
        if count_threads() != self._threads and not self._are_of_pools():
            return "threads"
        if has_children():
            return "processes" if end_children() else "processes that do not end"
        return ""

    def _are_of_pools(self) -> bool:
        ours = [each for each in threading.enumerate() if each.name.startswith(POOL_THREADS)]
        return count_threads() - len(ours) <= self._threads

    def _put_back(self) -> str:
        setitimer(ITIMER_REAL, 0)
        umask(self._mask)
        blocked = pthread_sigmask(SIG_SETMASK, self._blocked)
        if blocked != self._blocked or [*map(getsignal, SIGNALS)] != self._handlers:
            return "signals"
        if environ._data != self._variables:  # type: ignore[attr-defined]
            environ.clear()
            environ.update(self._environment)
        try:
            is_elsewhere = getcwd() != self._folder
        except OSError:  # it was removed
            is_elsewhere = True
        if is_elsewhere:
            os.chdir(self._folder)
        return ""

    def _changed(self) -> str:
        for timer in TIMERS:
            setitimer(timer, 0)
        if self._fixed_now() != self._fixed:
            return "limits or the locale"
        for module, before in zip(GUARDED, self._guarded, strict=True):
            if not before.items() <= vars(module).items():
                return f"the module {module.__name__}"
        if [*map(_identity, STANDARD)] != self._standard:
            return "standard descriptors"
        return "descriptors" if self._has_leaked() else ""

    def _fixed_now(self) -> list[Any]:
        return [
            *map(resource.getrlimit, LIMITS),
            os.getpriority(os.PRIO_PROCESS, 0),
            _locale.setlocale(locale.LC_ALL, None),
            sys.getrecursionlimit(),
            socket.getdefaulttimeout(),
            gc.isenabled(),
        ]

    def _has_leaked(self) -> bool:
        if not (strange := self._strange_descriptors()):
            return False
        if count_threads() != self._threads:  # of pools, which keep connections
            return len(strange) > MOST_DESCRIPTORS
        from queues.runs.doorbell import hang_up  # its connections are the last that may be ours

        hang_up()
        return bool(self._strange_descriptors())

    def _strange_descriptors(self) -> list[int]:
        new = open_descriptors() - self._descriptors - self._ours()
        return [number for number in new if _is_strange(number)]


class Imports:
    """How modules are found and set up: every service begins with what the process has."""

    def __init__(self) -> None:
        sys.dont_write_bytecode = True  # a service's folder stays as it is
        self._mount: str | None = None
        self._path = list(sys.path)
        self._modules = _names_before_fork or set(sys.modules)
        self._filters = list(warnings.filters)
        self._handlers = list(logging.root.handlers)
        self._level = logging.root.level
        self._decimal = decimal.getcontext().copy()

    def belong_to(self, mount: str) -> bool:
        if mount == self._mount:
            return False
        first, self._mount = self._mount is None, mount
        return False if first else self._reset()

    def _reset(self) -> bool:
        warnings.filters[:] = self._filters  # type: ignore[index]
        warnings._filters_mutated()  # type: ignore[attr-defined]
        logging.root.handlers[:] = self._handlers
        logging.root.setLevel(self._level)
        logging.disable(logging.NOTSET)
        decimal.setcontext(self._decimal.copy())
        random.seed()
        return self._drop_modules(self._added_paths())

    def _added_paths(self) -> Sequence[str]:
        added = [path for path in sys.path if path not in self._path]
        if sys.path != self._path:
            sys.path[:] = self._path
        return added

    def _drop_modules(self, paths: Sequence[str]) -> bool:
        """Drop modules that were found where only the service before looked."""
        new = [name for name in sys.modules if name not in self._modules] if paths else []
        places = tuple(os.path.join(path, "") for path in paths)
        dropped = [name for name in new if _file_of(name).startswith(places)]
        for name in dropped:
            del sys.modules[name]
        return bool(dropped)


def _identity(number: int) -> tuple[int, ...]:
    """Return which file a descriptor leads to; nothing when it is closed."""
    try:
        return tuple(os.fstat(number)[:3])
    except OSError:
        return ()


def _file_of(name: str) -> str:
    return getattr(sys.modules[name], "__file__", None) or ""


def _is_strange(number: int) -> bool:
    """Return whether it is open, and no connection of ours to a database."""
    place = place_of(number)
    if not place or is_of_sqlite(place):
        return False
    raws = (each.connection for each in connections.all(initialized_only=True))
    return not any(_number_of(raw) == number for raw in raws)


def _number_of(raw: Any) -> int | None:
    """Return the descriptor of an open connection to PostgreSQL."""
    return raw.fileno() if hasattr(raw, "fileno") and not raw.closed else None
