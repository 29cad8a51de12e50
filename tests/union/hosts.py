"""A host: processes of their own folder that reach both servers only through its own cable."""

import os
from urllib.parse import parse_qs, urlsplit

# A cut must outlast the leases; a machine that stands still for a moment must not.
QUICK = {
    "ATRIBUTO_WORKER_LEASE_MS": "6000",
    "ATRIBUTO_WORKER_HEARTBEAT_MS": "200",
    "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "200",
    "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "6000",
    "ATRIBUTO_CURATOR_INACTIVITY_DELAY_MS": "500",
}


class Host:
    """`cut()` pulls the cable: nothing is refused, nothing is answered. `mend()` plugs it in."""

    def __init__(self, name, folder, database_url, tcp_proxy, spawn):
        self.name = name
        self._spawn = spawn
        parts = urlsplit(database_url)
        socket = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        redis = urlsplit(os.environ["REDIS_URL"])
        self._cables = [tcp_proxy(socket), tcp_proxy(redis.path)]
        database, doorbells = self._cables
        self.environment = {
            **QUICK,
            "ATRIBUTO_VAR_DIR": str(folder / name),
            "ATRIBUTO_SERVICE_ROOTS": os.environ["ATRIBUTO_SERVICE_ROOTS"],
            "DATABASE_URL": f"postgresql://{parts.username}@127.0.0.1:{database.port}{parts.path}",
            "REDIS_URL": f"redis://127.0.0.1:{doorbells.port}/0",
        }

    def run(self, command, *arguments):
        return self._spawn(command, "--name", self.name, *arguments, env=self.environment)

    def cut(self):
        for cable in self._cables:
            cable.mode = "blackhole"

    def mend(self):
        """Connections that were open across the cut are gone, as behind any firewall."""
        for cable in self._cables:
            cable.mode = "cut"
            cable.mode = "pass"
