"""Serve the one port by a real uvicorn, in a thread of the test's own process."""

import socket
import threading
from concurrent.futures import wait

import uvicorn
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connections

from atributo_site.serving import connection
from atributo_site.serving.one_port import OnePort
from tests.servers.waiting import wait_until


class WebInThread:
    def __init__(self):
        self.app = OnePort(get_wsgi_application())
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        config = uvicorn.Config(self.app, **connection.options())
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],))
        self._thread.start()
        wait_until(lambda: self._server.started, 60, "uvicorn did not start")

    def stop(self):
        self._server.should_exit = True
        self._thread.join(60)
        self._listener.close()
        self._close_connections()

    def _close_connections(self):
        """Close the connections of request threads, so that the database can be dropped."""
        executor = self.app._in_threads.executor
        together = threading.Barrier(settings.ATRIBUTO.web_threads)

        def close():
            together.wait(60)
            connections.close_all()

        wait([executor.submit(close) for _ in range(settings.ATRIBUTO.web_threads)])
        executor.shutdown()
