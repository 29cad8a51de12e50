"""Marks that change with watched names, backends and live pools: open pages look again then."""

from collections.abc import Hashable

from atributo_site.core.database import execute

MARKS = """
    SELECT max(looked_up_at), max(state_since), sum(epoch),
           (SELECT max(id) FROM pools_backendchange),
           (SELECT max(at) FROM pools_poolsnapshot)
    FROM pools_pool"""


def marks() -> dict[str, Hashable]:
    """Return a value for each kind of subject; it differs after a change."""
    [row] = execute(MARKS, {}).rows
    return {"pool": tuple(row)}


TROUBLE = """
    SELECT max(state_since), sum(epoch),
           (SELECT max(id) FROM pools_backendchange),
           (SELECT max(at) FROM pools_poolsnapshot WHERE process NOT LIKE %(watchers)s)
    FROM pools_pool"""


def marks_of_trouble() -> dict[str, Hashable]:
    """Return the same without look-ups that showed nothing new, of which there are many a second.

    What begins or ends to be wrong with a name is a line of its timeline, and a curator, which only
    watches names, says so there and not in the picture of its process.
    """
    [row] = execute(TROUBLE, {"watchers": "curator/%"}).rows
    return {"pool": tuple(row)}
