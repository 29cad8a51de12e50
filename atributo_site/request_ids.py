"""The id of a request: on its log lines, its events and its answer."""

import re
import uuid

ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")


def chosen(given: str) -> str:
    """The caller's id if it is harmless, else a new one."""
    return given if ACCEPTED.fullmatch(given) else uuid.uuid4().hex
