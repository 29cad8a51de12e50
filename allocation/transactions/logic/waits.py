"""Find out who waits for whom, and which waits would never end."""

from collections.abc import Iterable

Edge = tuple[int, int]
Hold = tuple[int, int, str]  # transaction, key, mode


def blocked(waits: Iterable[Hold], locks: Iterable[Hold]) -> list[Edge]:
    """Return (waiter, holder) for every lock that blocks a wait."""
    held = list(locks)
    return [
        (waiter, holder)
        for waiter, wanted, mode in waits
        for holder, key, held_mode in held
        if key == wanted and holder != waiter and "exclusive" in (mode, held_mode)
    ]


def queued(waits: Iterable[Hold], locks: Iterable[Hold]) -> list[Edge]:
    """Return (waiter, earlier waiter) where the later lets the earlier go first.

    A transaction that holds the key already and wants more of it queues behind nobody, since
    the others wait for it.
    """
    held = {(holder, key) for holder, key, _ in locks}
    line = list(waits)
    return [
        (later, earlier)
        for place, (later, key, mode) in enumerate(line)
        for earlier, wanted, other_mode in line[:place]
        if key == wanted and "exclusive" in (mode, other_mode) and (later, key) not in held
    ]


def cycle_of(start: int, edges: Iterable[Edge]) -> list[int]:
    """Return the members of a circle of waiters through `start`, or an empty list."""
    waits_for: dict[int, list[int]] = {}
    for waiter, holder in edges:
        waits_for.setdefault(waiter, []).append(holder)
    return _path(start, waits_for)


def is_victim(txn: int, edges: Iterable[Edge]) -> bool:
    """Return whether it is the youngest of a circle, which gives way."""
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
