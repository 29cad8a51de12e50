"""Prepare an installation in a child process, so that the supervisor stays small.

Migrations, static files and the demo load every page of the site: the supervisor, which only
watches afterwards, would keep 40 MB for as long as it runs.
"""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.management import CommandError
from django.db import DatabaseError, InterfaceError, connections

from allocation.job_ids import ids
from atributo_site.commands import database_failed
from atributo_site.core.errors import AtributoError
from atributo_site.core.forking import die_with_parent


class NotPrepared(AtributoError):
    code = "not_prepared"


def in_a_child(prepare: Callable[[], Any]) -> Any:
    """Return what `prepare` returns, which must be JSON; raise what it says is wrong."""
    connections.close_all()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _prepare(prepare, writing)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    said = json.loads(text) if text else {"refusal": "the process that prepares it was killed"}
    if "refusal" in said:
        raise NotPrepared(said["refusal"])
    return said["result"]


def _prepare(prepare: Callable[[], Any], writing: int) -> None:
    """Answer through the pipe and end, without what the supervisor does at its own end."""
    try:
        die_with_parent(signal.SIGKILL)
        with os.fdopen(writing, "w") as answer:
            json.dump(_answer(prepare), answer)
        with suppress(OSError):  # such as a full disk
            sys.stdout.flush()  # os._exit would lose what a command has printed
    finally:
        os._exit(0)


def _answer(prepare: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"result": prepare()}
    except (AtributoError, CommandError) as error:
        return {"refusal": str(error)}
    except (DatabaseError, InterfaceError) as error:
        return {"refusal": str(database_failed(error))}
    except BaseException:  # it is a mistake of ours, and nobody else would see it
        return {"refusal": traceback.format_exc()}
    finally:
        ids.release()
        connections.close_all()
