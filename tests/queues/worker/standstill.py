"""Stop a process where it holds no row, or all of SQLite: then nobody else could go on."""

import signal
import time

from django.db import OperationalError, connection
from django.db.transaction import atomic

from atributo_site.core.availability.patience import waiting_until
from queues.models import QueuedJob, Slot

BUSY = """
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND backend_type = 'client backend' AND state <> 'idle' LIMIT 1
"""


def stop_between_writes(choose):
    """Stop the process that choose() gives, and return it."""
    while True:
        struck = choose()
        struck.send_signal(signal.SIGSTOP)
        if nothing_stands_still():
            return struck
        struck.send_signal(signal.SIGCONT)


def nothing_stands_still():
    return nobody_holds_a_row() and nobody_is_asking()


def nobody_is_asking():
    """No statement that somebody has sent is still to be carried out."""
    if connection.vendor == "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute(BUSY)
        return cursor.fetchone() is None


def nobody_holds_a_row():
    try:
        with waiting_until(time.monotonic() + 0.1), atomic():
            list(Slot.objects.select_for_update(nowait=True))
            list(QueuedJob.objects.select_for_update(nowait=True).only("pk"))
    except OperationalError:
        return False
    return True
