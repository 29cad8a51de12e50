"""Who waits for whom, and whose wait can never end."""

from collections.abc import Iterable

Edge = tuple[int, int]


def cycle_of(start: int, edges: Iterable[Edge]) -> list[int]:
    """The members of a circle of waiters through `start`, or an empty list."""
    waits_for: dict[int, list[int]] = {}
    for waiter, holder in edges:
        waits_for.setdefault(waiter, []).append(holder)
    return _path(start, waits_for)


def is_victim(txn: int, edges: Iterable[Edge]) -> bool:
    """The youngest of a circle gives way, so that exactly one does."""
    circle = cycle_of(txn, edges)
    return bool(circle) and txn == max(circle)


def _path(start: int, waits_for: dict[int, list[int]]) -> list[int]:
    came_from: dict[int, int] = {}
    todo = [start]
    while todo:
        waiter = todo.pop()
        for holder in waits_for.get(waiter, ()):
            if holder == start:
                return _walk_back(waiter, came_from, start)
            if holder not in came_from:
                came_from[holder] = waiter
                todo.append(holder)
    return []


def _walk_back(end: int, came_from: dict[int, int], start: int) -> list[int]:
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path
