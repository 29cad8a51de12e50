"""Decide what an answer changes, and whether that is believed at once."""

from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass

from pools.logic.dns.lookup import Step

ANSWERS = {"NXDOMAIN", "no records"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`waits` holds what the answer lacks and what is kept until a second answer confirms it."""

    added: frozenset[str]
    removed: frozenset[str]
    waits: frozenset[str] = frozenset()


def judge(
    present: Set[str], answer: Set[str], share: float, unconfirmed: Set[str], is_answered: bool
) -> Verdict:
    """Believe new backends at once, but a mass removal only if a second answer confirms it.

    `unconfirmed` is what waited after an earlier look-up; `is_answered` says that this look-up was
    answered, so that it may confirm.
    """
    missing = frozenset(present - answer)
    confirmed = missing & unconfirmed if is_answered else frozenset()
    rest = missing - confirmed
    if is_wide(rest, present, share):
        return Verdict(frozenset(answer - present), confirmed, rest)
    return Verdict(frozenset(answer - present), missing)


def is_answered(error: str | None, steps: Iterable[Step]) -> bool:
    """Return True if the look-up went well, or every question got an answer, even a "no"."""
    if error is None:
        return True
    asked: dict[tuple[str, str], bool] = {}
    for step in steps:
        question = step.name, step.rdtype
        asked[question] = asked.get(question, False) or is_answer(step.result)
    return bool(asked) and all(asked.values())


def is_answer(result: str) -> bool:
    return result in ANSWERS or result.endswith(" records")


def is_wide(missing: Collection[str], present: Collection[str], share: float) -> bool:
    return bool(missing) and len(missing) >= share * len(present)
