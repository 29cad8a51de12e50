"""Processes that run scripts report the pools that a script makes, as every other process does."""

import os
import socket

from allocation.models import Lease
from pools.report import report_when_used


def report_those_of_scripts() -> None:
    """Called in each process that runs scripts, before the first of them."""
    report_when_used(this_process)


def this_process() -> str:
    """Named after the worker or web process that it belongs to."""
    parent = f"{socket.gethostname()}:{os.getppid()}:"
    roles = Lease.objects.held().filter(holder__startswith=parent).values_list("role", flat=True)
    owner = next((role for role in roles if "/" in role), f"{socket.gethostname()}-{os.getppid()}")
    return f"{owner} script {os.getpid()}"
