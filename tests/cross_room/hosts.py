"""A host: processes with a folder of their own that reach both servers through one cable."""

import os
from urllib.parse import parse_qs, urlsplit

from django.db import connection
from django.db.models import Q
from django.db.transaction import atomic

from atributo_site.core.models import Lease
from atributo_site.core.models.clock import from_now
from queues.models import Slot

# It looks often, and keeps its leases though the machine stalls: only a cut ends them.
QUICK = {
    "ATRIBUTO_WORKER_HEARTBEAT_MS": "200",
    "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "200",
    "ATRIBUTO_CURATOR_INACTIVITY_DELAY_MS": "500",
}


class Host:
    """`cut()` pulls the cable: nothing is refused, nothing is answered. `mend()` plugs it in."""

    def __init__(self, name, folder, database_url, tcp_proxy, spawn):
        self.name = name
        self._spawn = spawn
        self._holders = Q()
        parts = urlsplit(database_url)
        socket = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        redis = urlsplit(os.environ["REDIS_URL"])
        self._cables = [tcp_proxy(socket), tcp_proxy(redis.path)]
        database, doorbells = self._cables
        self.environment = {
            **QUICK,
            "ATRIBUTO_VAR_DIR": str(folder / name),
            "ATRIBUTO_SERVICE_ROOTS": os.environ["ATRIBUTO_SERVICE_ROOTS"],
            "DATABASE_URL": f"postgresql://{parts.username}@127.0.0.1:{database.port}{parts.path}"
            "?connect_timeout=60",
            "REDIS_URL": f"redis://127.0.0.1:{doorbells.port}/0",
        }

    def run(self, command):
        process = self._spawn(command, "--name", self.name, env=self.environment)
        self._holders |= Q(holder__contains=f":{process.pid}:")

    def cut(self):
        """Cut for longer than the leases of the host last."""
        for cable in self._cables:
            cable.mode = "blackhole"
        with atomic(), connection.cursor() as cursor:
            # A transaction that was cut in two keeps its rows until the server ends it.
            cursor.execute("SET LOCAL lock_timeout = '90s'; SET LOCAL statement_timeout = '90s'")
            Lease.objects.filter(self._holders).update(expires_at=from_now(-1))
            Slot.objects.filter(self._holders).update(leased_until=from_now(-1))

    def mend(self):
        """Mend; connections that were open across the cut are gone, as behind any firewall."""
        for cable in self._cables:
            cable.mode = "cut"
            cable.mode = "pass"
