"""Run the web server: one process, streams are async, everything else runs in threads."""

import signal
from typing import Any

import uvicorn
from django.conf import settings

from atributo_site.commands import AtributoCommand, integer
from atributo_site.core.presence import beating, host_and_pid, presence_of
from atributo_site.serving import connection
from atributo_site.supervisor.ports import inherited, listen_or_offer
from pools.reporting.process_report import reporting

GRACE_SECONDS = 3


class Command(AtributoCommand):
    has_json = False
    needs_migrations = True
    requires_system_checks = "__all__"
    help = "Run the web server (ATRIBUTO_HOST, ATRIBUTO_PORT)."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--fd", type=integer, help="Serve on this inherited listening socket.")

    def perform(self, *, fd: int | None, **options: Any) -> None:
        env = settings.ATRIBUTO
        listener = (
            inherited(fd) if fd is not None else listen_or_offer(env.host, env.port, insist=True)[0]
        )
        config = uvicorn.Config(
            "atributo_site.asgi:application",
            **connection.options(),
            proxy_headers=env.behind_proxy,
            forwarded_allow_ips=list(env.proxies),
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        # uvicorn stops on these signals and then raises them again, which would end us before
        # the presence is given back.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        name = host_and_pid()
        with beating(presence_of("web", name)), reporting(f"web/{name}"):
            uvicorn.Server(config).run(sockets=[listener])
