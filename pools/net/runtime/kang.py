"""Serve the snapshot of this process over HTTP, as kang expects it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from pools.net.runtime.monitor import TYPES, PoolMonitor, pool_monitor


class KangServer:
    """Serve /kang/snapshot, /kang/types, /kang/objects/TYPE and /kang/obj/TYPE/ID."""

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

    def __enter__(self) -> "KangServer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<KangServer port={self.port}>"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body_facts = answer(pool_monitor, self.path)
        body = json.dumps(body_facts if body_facts is not None else {"error": "not found"}).encode()
        self.send_response(404 if body_facts is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: standard error belongs to the program."""


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
