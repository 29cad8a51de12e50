"""Give a child process functions to run, and read what it answers."""

import sys
from contextlib import suppress
from inspect import isfunction

from django.core.exceptions import ImproperlyConfigured

from queues.functions.declaration import declare


def declare_all(module):
    for each in vars(module).values():
        if isfunction(each) and each.__module__ == module.__name__:
            with suppress(ImproperlyConfigured):
                declare(each)


def work(function, file="", timeout_ms=None):
    """A call of a module's function, as a callback is one."""
    declare_all(sys.modules[function.__module__])  # before the child is forked
    script = f"{function.__module__}:{function.__name__}"
    facts = {"mount": "", "script": script, "data": f'"{file}"', "timeout_ms": timeout_ms}
    return {**facts, "run_failures": 0, "back_off": None, "revision": 0, "job": None}


def messages(workhorse):
    """Until the job is done."""
    while (message := workhorse.receive(30.0)) is not None:
        yield message
        if message["t"] == "done":
            return
