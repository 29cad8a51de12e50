"""Turn changes into hints: at most one per second, at once after a quiet time."""

from collections.abc import Callable, Iterable

from atributo_site.serving.listener import Hint
from atributo_site.status.marks import Generation, Marks, changed, generation, marks

PAUSE_SECONDS = 1.0
MOST_SUBJECTS = 50  # beyond that a hint names only their kinds


class Hinting:
    """Compare the marks of each round with those before; `now` is the clock of the event loop."""

    def __init__(
        self,
        read: Callable[[], Marks] = marks,
        numbers: Generation = generation,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self.read = read
        self.numbers = numbers
        self._pause_seconds = pause_seconds
        self._before: Marks | None = None
        self._subjects: set[str] = set()
        self._not_before = 0.0

    def rest(self) -> None:
        """Forget the marks while nobody wants hints."""
        self._before = None

    def hint(self, marks: Marks, subjects: Iterable[str], now: float) -> Hint | None:
        """Return the hint that is due; None if nothing changed, or the last one was just now."""
        if self._before is None:  # anything may have changed since
            self._before = marks
            self.numbers.begin()
            return self._sent((), now)
        self._subjects |= changed(self._before, marks) | set(subjects)
        self._before = marks
        if not self._subjects or now < self._not_before:
            return None
        self.numbers.advance()
        return self._sent(_shortened(self._subjects), now)

    def _sent(self, subjects: tuple[str, ...], now: float) -> Hint:
        self._subjects = set()
        self._not_before = now + self._pause_seconds
        return Hint(subjects, self.numbers.name)


def _shortened(subjects: set[str]) -> tuple[str, ...]:
    if len(subjects) > MOST_SUBJECTS:
        subjects = {subject.partition(":")[0] for subject in subjects}
    return tuple(sorted(subjects))
