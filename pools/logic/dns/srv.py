"""SRV priority and weight: which backends are used, and which come first."""

from collections.abc import Callable, Collection, Iterable, Mapping

from pools.logic.backends import Backend

LIGHTEST = 0.1  # weight 0 means "hardly ever", not "never"


def weight_of(backend: Backend) -> float:
    return backend.weight or LIGHTEST


def reachable_tiers(backends: Mapping[str, Backend], down: Collection[str]) -> set[str]:
    """Return the keys up to the first priority that has a living backend.

    The dead ones of better tiers are included, because they are watched for their return.
    """
    living = [b.priority for key, b in backends.items() if key not in down]
    if not living:
        return set(backends)
    best = min(living)
    return {key for key, backend in backends.items() if backend.priority <= best}


def is_weighted(backends: Iterable[Backend]) -> bool:
    return len({weight_of(backend) for backend in backends}) > 1


def insertion_index(
    order: list[str],
    backends: Mapping[str, Backend],
    new: Backend,
    chance: Callable[[], float],
) -> int:
    """Return a random place in the order of preference; a heavy backend tends to the front."""
    mine = weight_of(new)
    index = int(chance() * (len(order) + 1))
    while index > 0 and mine > weight_of(backends[order[index - 1]]):
        index -= 1
    return index
