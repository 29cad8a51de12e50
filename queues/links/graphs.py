"""Find a circle among things that wait for each other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def circle(after: Mapping[T, Sequence[T]]) -> list[T]:
    """Return things that wait for each other in a circle, in this order; empty if there is none.

    What is waited for and has no entry of its own waits for nothing. Time and memory grow with the
    number of links, and no recursion is as deep as the graph.
    """
    done: set[T] = set()
    for start in after:
        path: list[T] = []
        on_path: set[T] = set()
        steps = [(start, iter(after[start]))] if start not in done else []
        while steps:
            thing, others = steps[-1]
            if thing not in on_path:
                path.append(thing)
                on_path.add(thing)
            following = next((other for other in others if other not in done), None)
            if following is None:
                done.add(thing)
                steps.pop()
                on_path.discard(path.pop())
            elif following in on_path:
                return [*path[path.index(following) :], following]
            else:
                steps.append((following, iter(after.get(following, ()))))
    return []
