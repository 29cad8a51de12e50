"""Report the pools that a script makes, as every other process does."""

import os
import socket
from functools import partial

from atributo_site.core.models import Lease
from pools.reporting.process_report import report_when_used


def report_those_of_scripts(owner: int) -> None:
    """Call this in each process that runs scripts, before the first of them."""
    report_when_used(partial(this_process, owner))


def this_process(owner: int) -> str:
    """Name the process after its worker, whose process id is given."""
    parent = f"{socket.gethostname()}:{owner}:"
    roles = Lease.objects.held().filter(holder__startswith=parent).values_list("role", flat=True)
    name = next((role for role in roles if "/" in role), f"{socket.gethostname()}-{owner}")
    return f"{name} script {os.getpid()}"
