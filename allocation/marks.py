"""Marks that change with the placements and instances, so that open pages know when to look."""

from collections.abc import Hashable

from atributo_site.core.database import execute

MARKS = """
    SELECT (SELECT max(epoch) FROM allocation_allocation),
           (SELECT max(id) FROM allocation_pastallocation),
           roster.version, roster.instances, roster.available,
           drains.n, drains.moved, drains.stuck,
           rebalance.looked_at, rebalance.moved, rebalance.done_at
    FROM (SELECT count(*) AS n, sum(moved) AS moved,
                 sum(CASE WHEN stuck THEN 1 ELSE 0 END) AS stuck
          FROM allocation_drain WHERE done_at IS NULL) drains
    LEFT JOIN allocation_roster roster ON roster.id = (SELECT min(id) FROM allocation_roster)
    LEFT JOIN allocation_rebalance rebalance
           ON rebalance.id = (SELECT min(id) FROM allocation_rebalance)"""


def marks() -> dict[str, Hashable]:
    """Return a value for each kind of subject; it differs after a change."""
    [row] = execute(MARKS, {}).rows
    return {"allocation": tuple(row[:2]), "instance": tuple(row[2:8]), "rebalance": tuple(row[8:])}
