"""End a web process that does not answer, so that the supervisor starts it again."""

import signal
from collections.abc import Callable
from typing import Protocol

from atributo_site.supervisor.child import Child

QUESTIONS = 3  # in a row without an answer
QUESTION_SECONDS = 5.0
SILENT_SECONDS = QUESTIONS * QUESTION_SECONDS
PAUSE_SECONDS = 1.0  # between an answer and the next question
GRACE_SECONDS = 5.0  # between the request to stop and the end


class Asked(Protocol):
    def answered(self) -> bool | None: ...

    def close(self) -> None: ...


class Watchdog:
    """Look and never wait.

    A process counts as silent only after it has answered once, as a start may take any time.
    Questions are counted, not seconds, so that a supervisor that did not run for a while blames
    nobody.
    """

    def __init__(self, child: Child, ask: Callable[[], Asked], say: Callable[[str], None]) -> None:
        self._child, self._ask, self._say = child, ask, say
        self._question: Asked | None = None
        self._pid: int | None = None
        self._told_at: float | None = None
        self._ask_at = self._asked_at = 0.0
        self.has_answered, self._unanswered = False, 0

    def look(self, monotonic: float) -> None:
        if self._child.pid != self._pid:
            self._start_over(self._child.pid)
        if self._pid is None:
            return
        if self._told_at is not None:
            self._insist(monotonic, self._told_at)
        elif self._question is not None:
            self._hear(self._question, monotonic)
        elif monotonic >= self._ask_at:
            self._question, self._asked_at = self._ask(), monotonic

    def _hear(self, question: Asked, monotonic: float) -> None:
        answered = question.answered()
        if answered is None and monotonic < self._asked_at + QUESTION_SECONDS:
            return
        self._drop_question()
        if answered:
            self.has_answered, self._unanswered = True, 0
            self._ask_at = monotonic + PAUSE_SECONDS
            return
        self._ask_at = self._asked_at + QUESTION_SECONDS
        self._unanswered += self.has_answered
        if self._unanswered == QUESTIONS:
            self._tell(monotonic)

    def _tell(self, monotonic: float) -> None:
        why = f"no answer to /healthz for {SILENT_SECONDS:.0f} seconds"
        self._say(f"{self._child.name}: {why}; ending it.")
        self._child.end(why)
        self._told_at = monotonic

    def _insist(self, monotonic: float, told_at: float) -> None:
        if monotonic >= told_at + GRACE_SECONDS:
            self._child.signal(signal.SIGKILL)

    def _start_over(self, pid: int | None) -> None:
        self._drop_question()
        self._pid = pid
        self._ask_at = 0.0
        self.has_answered, self._unanswered = False, 0
        self._told_at = None

    def _drop_question(self) -> None:
        if self._question is not None:
            self._question.close()
            self._question = None
