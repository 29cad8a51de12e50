"""Divide a span of time into the states that something was in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Stretch:
    """`begin` and `share` are parts of the whole span, from 0 to 1."""

    state: str
    begin: float
    share: float


def stretches(
    changes: Sequence[tuple[datetime, str]],
    state: str,
    born_at: datetime,
    now: datetime,
    span: timedelta,
) -> list[Stretch]:
    """Return a stretch for each change until the next one; `state` is the present state.

    Before the first known change it was in another state, or in none if it did not exist yet.
    """
    start = now - span
    moments = [(max(start, born_at), before(changes, state)), *changes]
    ends = [*(at for at, _ in moments[1:]), now]
    spans = [
        Stretch(word, (max(at, start) - start) / span, (end - max(at, start)) / span)
        for (at, word), end in zip(moments, ends, strict=True)
    ]
    return [stretch for stretch in spans if stretch.share > 0]


def share_of(spans: Sequence[Stretch], state: str) -> float:
    """Return how much of the whole span it was in a state, from 0 to 1."""
    return min(1.0, sum(stretch.share for stretch in spans if stretch.state == state))


def before(changes: Sequence[tuple[datetime, str]], state: str) -> str:
    if not changes:
        return state
    return "gone" if changes[0][1] != "gone" else "present"
