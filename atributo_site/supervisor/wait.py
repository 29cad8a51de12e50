"""Has it come up? Asked of the real thing, as a user would."""

import http.client
from pathlib import Path

from allocation.errors import AtributoError


class NotUp(AtributoError):
    code = "not_up"


def web_answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:  # it listens already, but nobody serves it yet
        return False
    finally:
        connection.close()


def not_up(name: str, log_path: Path) -> NotUp:
    lines = log_path.read_text(errors="replace").splitlines()[-15:] if log_path.exists() else []
    return NotUp("\n".join([f"{name} did not come up; the last lines of {log_path}:", *lines]))
