"""Match patterns in linear time, whatever the text.

Python's own engine tries one path through a pattern after the other, and a text can be made so that
there are more paths than it could ever try. Here all paths advance side by side, one character at a
time, so that none is tried twice. What was found out about a set of paths and a character is kept.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from queues.logic.regex.syntax import BadPattern, Edge, Either, Node, One, Repeat, Row, parsed

LARGEST = 2000  # steps of a program
MOST_KEPT = 20_000  # moves that are remembered
WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Split:
    """Go on at each of these steps."""

    ways: tuple[int, ...]


@dataclass(eq=False)
class State:
    """Where all paths stand, and what kind of character is behind them."""

    ways: frozenset[int]
    before: str
    moves: dict[str, "State"] = field(default_factory=dict)


FOUND = State(frozenset(), "")
Step = One | Edge | Split


@lru_cache(maxsize=256)
def compiled(text: str) -> "Pattern":
    return Pattern(text)


class Pattern:
    """A program of steps; a path that comes to its end is a match."""

    def __init__(self, text: str) -> None:
        self._steps: list[Step] = []
        self._add(parsed(text))
        self._forget()

    def found_in(self, text: str) -> bool:
        """Return whether it matches anywhere; `$` is the very end, and a line break is none."""
        state = self._start
        for character in chain(text, ("",)):
            state = state.moves.get(character) or self._moved(state, character)
            if state is FOUND:
                return True
        return False

    def _forget(self) -> None:
        self._kept = 0
        self._start = State(frozenset([0]), "")
        self._states = {(self._start.ways, self._start.before): self._start}

    def _moved(self, state: State, character: str) -> State:
        if self._kept >= MOST_KEPT:
            self._forget()
        self._kept += 1
        kind = _kind(character)
        reached = self._reached(state, kind)
        if len(self._steps) in reached:
            target = FOUND
        else:
            ways = frozenset([0, *self._fitting(reached, character)])
            target = self._states.setdefault((ways, kind), State(ways, kind))
        state.moves[character] = target
        return target

    def _fitting(self, reached: set[int], character: str) -> list[int]:
        ones = ((at, self._steps[at]) for at in reached)
        return [at + 1 for at, one in ones if isinstance(one, One) and one.fits(character)]

    def _reached(self, state: State, after: str) -> set[int]:
        """Return where its paths lead before the next character is taken."""
        waiting, reached = list(state.ways), set[int]()
        while waiting:
            at = waiting.pop()
            if at in reached:
                continue
            reached.add(at)
            step = self._steps[at] if at < len(self._steps) else None
            if isinstance(step, Split):
                waiting += step.ways
            elif isinstance(step, Edge) and _is_at(step.kind, state.before, after):
                waiting.append(at + 1)
        return reached

    # -- the program -------------------------------------------------------------------------

    def _add(self, node: Node) -> None:
        match node:
            case Row(parts):
                for part in parts:
                    self._add(part)
            case Either(ways):
                self._add_either(ways)
            case Repeat(part, least, most):
                self._add_repeat(part, least, most)
            case One() | Edge():
                self._append(node)

    def _add_either(self, ways: tuple[Node, ...]) -> None:
        split, begins, ends = self._append(Split(())), [], []
        for way in ways:
            begins.append(len(self._steps))
            self._add(way)
            ends.append(self._append(Split(())))
        self._steps[split] = Split(tuple(begins))
        for end in ends:
            self._steps[end] = Split((len(self._steps),))

    def _add_repeat(self, part: Node, least: int, most: int | None) -> None:
        for _ in range(least):
            self._add(part)
        if most is None:
            split = self._append(Split(()))
            self._add(part)
            self._append(Split((split,)))
            self._steps[split] = Split((split + 1, len(self._steps)))
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._append(Split(())))
            self._add(part)
        for split in splits:
            self._steps[split] = Split((split + 1, len(self._steps)))

    def _append(self, step: Step) -> int:
        if len(self._steps) == LARGEST:
            raise BadPattern(f"the pattern has more than {LARGEST} steps, counts written out")
        self._steps.append(step)
        return len(self._steps) - 1


def _kind(character: str) -> str:
    if not character:
        return ""
    return "word" if WORD.match(character) else "other"


def _is_at(edge: str, before: str, after: str) -> bool:
    match edge:
        case "begin":
            return not before
        case "end":
            return not after
    return ((before == "word") != (after == "word")) == (edge == "word")
