"""Named points at which a test may kill the process, to see what a crash there leaves."""

import os

KILLED = 137
_armed = os.environ.get("ATRIBUTO_FAILPOINT") if os.environ.get("ATRIBUTO_ENV") == "test" else None


def failpoint(name: str) -> None:
    """Nothing, unless this very point was armed in the environment of a test's process."""
    if _armed is not None and name == _armed:
        os._exit(KILLED)


def are_armed() -> bool:
    return _armed is not None
