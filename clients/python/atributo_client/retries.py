"""When a request is sent again, and after how long. Nothing here waits or sends."""

import random
from dataclasses import dataclass

from atributo_client.failures import AtributoError, InDoubt, NoAnswer, NotAtributo, Unreachable
from atributo_client.problems import error_of, is_success
from atributo_client.steps import KEY, Answer, Flow, Pause, Request, T

AGAIN_CODES = {"idempotency_key_in_progress", "throttled", "too_slow"}
GATEWAYS = {502, 503, 504}


@dataclass(frozen=True)
class Retries:
    """At most so many attempts, and at most so many seconds of pauses between them."""

    attempts: int = 20
    patience_seconds: float = 30.0
    first_pause_seconds: float = 0.1
    longest_pause_seconds: float = 5.0

    def pause_after(self, attempt: int, waited: float, error: AtributoError) -> float | None:
        """Return the seconds to wait, or None if this was the last attempt."""
        doubled = self.first_pause_seconds * 2 ** min(attempt - 1, 30)
        shortest = min(doubled, self.longest_pause_seconds)
        pause = max(shortest * random.uniform(0.5, 1.0), error.retry_after_seconds or 0.0)
        is_last = attempt >= self.attempts or waited + pause > self.patience_seconds
        return None if is_last else pause


NEVER = Retries(attempts=1)


def patient(flow: Flow[T], retries: Retries) -> Flow[T]:
    """Return the same flow, whose requests are sent again when that is safe and may help."""
    try:
        step = next(flow)
        while True:
            if isinstance(step, Pause):
                step = flow.send((yield step))
                continue
            try:
                answer = yield from _attempts(step, retries)
            except AtributoError as error:
                step = flow.throw(error)
            else:
                step = flow.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _attempts(request: Request, retries: Retries) -> Flow[Answer]:
    attempt, waited, was_lost = 1, 0.0, False
    while True:
        outcome: Answer | AtributoError = yield request
        if isinstance(outcome, Answer) and is_success(outcome):
            return outcome
        error = outcome if isinstance(outcome, AtributoError) else error_of(outcome)
        was_lost = was_lost or is_lost(error)
        pause = retries.pause_after(attempt, waited, error) if may_help(request, error) else None
        if pause is None:
            raise doubted(request, error) if was_lost else error
        yield Pause(pause)
        attempt, waited = attempt + 1, waited + pause


def may_help(request: Request, error: AtributoError) -> bool:
    """Whether sending it again is safe, and not in vain."""
    if isinstance(error, InDoubt):  # the site says so: only a person or a read can tell
        return request.is_read
    if isinstance(error, Unreachable) or error.code in AGAIN_CODES:
        return True
    if is_lost(error):
        return request.is_repeatable
    return error.status in {429, 503} and error.retry_after_seconds is not None


def is_lost(error: AtributoError) -> bool:
    """Whether the request may have arrived, and its answer did not."""
    return isinstance(error, NoAnswer) or _is_gateway(error)


def doubted(request: Request, error: AtributoError) -> AtributoError:
    """Return the error to raise after a lost answer; a refusal settles what was lost."""
    if request.is_read or not (is_lost(error) or may_help(request, error)):
        return error
    key = request.headers.get(KEY, "")
    hint = f" It was sent with the idempotency key {key}." if key else ""
    words = f"{error} This change may be done or not: look before you send it again.{hint}"
    doubt = InDoubt(words, idempotency_key=key)
    doubt.__cause__ = error
    return doubt


def _is_gateway(error: AtributoError) -> bool:
    return isinstance(error, NotAtributo) and error.status in GATEWAYS
