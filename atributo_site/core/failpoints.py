"""Named points at which a test may kill or stop the process, to see what that leaves behind."""

import os
import signal

KILLED = 137
STOP = ":stop"
_armed = os.environ.get("ATRIBUTO_FAILPOINT") if os.environ.get("ATRIBUTO_ENV") == "test" else None


def failpoint(name: str) -> None:
    """Do nothing, unless a test's environment has armed this very point."""
    if _armed is None:
        return
    if name == _armed:
        os._exit(KILLED)
    if name + STOP == _armed:
        os.kill(os.getpid(), signal.SIGSTOP)


def are_armed() -> bool:
    return _armed is not None
