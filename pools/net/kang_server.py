"""The monitor's snapshot over HTTP, for looking at a running program."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pools.net.monitor import TYPES, PoolMonitor, pool_monitor


class KangServer:
    """Serves /kang/snapshot, /kang/types, /kang/objects/TYPE and /kang/obj/TYPE/ID."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self._server = ThreadingHTTPServer((address, port), _Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, name="kang", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = answer(pool_monitor, self.path)
        body = json.dumps(found if found is not None else {"error": "not found"}).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Standard error belongs to the program."""


def answer(monitor: PoolMonitor, path: str) -> Any:
    match path.strip("/").split("/"):
        case ["kang", "snapshot"]:
            return monitor.snapshot()
        case ["kang", "types"]:
            return list(TYPES)
        case ["kang", "objects", kind] if kind in TYPES:
            return monitor.list_objects(kind)
        case ["kang", "obj", kind, id] if kind in TYPES and id in monitor.list_objects(kind):
            return monitor.get(kind, id)
    return None
