"""Run a script at once, in a process of its own, with a time limit."""

import atexit
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from allocation.transactions.ending import renew
from allocation.transactions.operations import Fence
from queues import left_behind
from queues.errors import ScriptFailed
from queues.logic.scrub import passwords_of
from queues.models import Catalogue, Script, Service
from queues.prepared import json_text
from queues.schema import check
from queues.scripts import LIFECYCLE, loaded
from queues.wire import ChildGone
from queues.workhorse import Workhorse

MOST_IDLE = 2
START_SECONDS = 20.0  # a fresh interpreter on a busy machine
_idle: list[tuple[str, Workhorse]] = []
_lock = threading.Lock()


@dataclass
class Ran:
    """What came of it."""

    result: Any = None
    lines: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    transactions: list[int] = field(default_factory=list)
    pushes: list[dict[str, Any]] = field(default_factory=list)  # what a dry run would push


def run_script(mount: str, name: str, data: Any = None, *, dry_run: bool = False) -> Ran:
    """Check the data by the script's schema and run it; ScriptFailed with its status code.

    A dry run executes it, too, and then takes back what it wrote and pushed.
    """
    service = loaded(mount)
    script = service.scripts.get(name)
    if script is None and name not in LIFECYCLE:
        service.function(name)  # raises ScriptNotFound
    if script is None:
        return Ran()
    checked = check(script.schema, data)
    timeout_ms = script.defaults.get("timeout", settings.ATRIBUTO.script_timeout_ms)
    return execute({**_work(mount, name, checked), "dry_run": dry_run}, timeout_ms)


def run_candidate(service: Service, scripts: list[Script], name: str) -> Ran:
    """Run `setup` or `teardown` of a service that is not stored as it is given here."""
    if name not in {script.name for script in scripts}:
        return Ran()
    facts = {
        "mount": service.mount,
        "name": service.name,
        "version": service.version,
        "folder": service.folder,
        "configuration": service.settings(),
    }
    rows = [(script.name, {"name": script.name, "path": script.path}) for script in scripts]
    given = {"facts": facts, "scripts": rows, "passwords": passwords_of(service.definitions)}
    work = {**_work(service.mount, name, None), "candidate": given}
    return execute(work, settings.ATRIBUTO.script_timeout_ms)


def execute(work: dict[str, Any], timeout_ms: float) -> Ran:
    work["timeout_ms"] = timeout_ms
    workhorse = _taken()
    ran = Ran()
    try:
        _follow(ran, workhorse, work, timeout_ms / 1000)
    except BaseException:  # nothing of it may go on or stay half done
        workhorse.close()
        left_behind.roll_back(ran.transactions)
        raise
    _put_back(workhorse)
    return ran


def _follow(
    ran: Ran,
    workhorse: Workhorse,
    work: dict[str, Any],
    seconds: float,
    monotonic: Callable[[], float] = time.monotonic,
) -> None:
    workhorse.give([work], 0.0)
    begun = monotonic()
    while True:
        starting = workhorse.start_seconds(START_SECONDS)
        left = begun + seconds + starting - monotonic()
        try:
            message = workhorse.receive(min(max(0.0, left), _renew_seconds()))
        except ChildGone:
            raise ScriptFailed(f"the process was {workhorse.bury()}") from None
        if message is not None and message["t"] == "done":
            return _end(ran, message)
        if message is not None and starting:
            begun = monotonic()  # what its interpreter took to start is not the script's time
        if message is not None:
            _hear(ran, message)
        elif left > _renew_seconds():
            _renew(ran)
        else:
            raise ScriptFailed(f"timed out after {work['timeout_ms']} ms")


def _hear(ran: Ran, message: dict[str, Any]) -> None:
    if message["t"] == "log":
        ran.lines.append({"level": message["level"], "text": message["text"]})
    elif message["t"] == "transaction":
        ran.transactions.append(message["id"])


def _renew(ran: Ran) -> None:
    """A transaction lives as long as its run, up to its limit."""
    if ran.transactions:
        renew(Fence(ran.transactions[-1], epoch=1))


def _renew_seconds() -> float:
    return settings.ATRIBUTO.max_job_time_ms / 3000


def _end(ran: Ran, message: dict[str, Any]) -> None:
    ran.seconds = message["seconds"]
    if message["ok"]:
        ran.result = message["result"]
        ran.pushes = message.get("pushes", [])
        return
    raise ScriptFailed(
        message["error"],
        message["status_code"] or 500,
        traceback=message["traceback"],
        lines=ran.lines,
    )


def _work(mount: str, name: str, data: Any) -> dict[str, Any]:
    revision = Catalogue.objects.values_list("revision", flat=True).first() or 0
    return {
        "mount": mount,
        "script": name,
        "data": None if data is None else json_text(data),
        "run_failures": 0,
        "back_off": None,
        "revision": revision,
        "job": None,
    }


def _taken() -> Workhorse:
    """A warm process, or a new one."""
    with _lock:
        for number, (surroundings, workhorse) in enumerate(_idle):
            if surroundings == _surroundings():
                del _idle[number]
                return workhorse
    return Workhorse(settings.ATRIBUTO.worker_memory_mb, fork=False)


def _put_back(workhorse: Workhorse) -> None:
    with _lock:
        if len(_idle) < MOST_IDLE and not workhorse.is_fat():
            _idle.append((_surroundings(), workhorse))
            return
    workhorse.close()


@atexit.register
def close_idle() -> None:
    """A process that ends leaves no warm one behind."""
    with _lock:
        while _idle:
            _idle.pop()[1].close()


def _surroundings() -> str:
    """What a process that is started now would work on."""
    return f"{os.environ.get('DATABASE_URL')} {os.environ.get('ATRIBUTO_SERVICE_ROOTS')}"
