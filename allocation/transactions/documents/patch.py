"""Build the operations of a JSON Patch, and apply them to a stored document."""

from collections.abc import Callable
from typing import Any

from allocation.transactions.documents import documents
from allocation.transactions.errors import InvalidDocument, KeyIsContended, PreconditionFailed
from allocation.transactions.logic.patch import BadPatch, TestFailed, merged, patched
from allocation.transactions.store.keys import Demand, Key, checked_json, checked_ref
from allocation.transactions.store.refusals import why_unmet
from allocation.transactions.store.response import Response

TRIES = 20


class Patch:
    """`Patch().add("tags/-", "new").increment("visits")`."""

    def __init__(self) -> None:
        self.operations: list[dict[str, Any]] = []

    def add(self, path: str, value: Any) -> "Patch":
        return self._with(op="add", path=path, value=value)

    def remove(self, path: str) -> "Patch":
        return self._with(op="remove", path=path)

    def replace(self, path: str, value: Any) -> "Patch":
        return self._with(op="replace", path=path, value=value)

    def move(self, old_path: str, new_path: str) -> "Patch":
        return self._with(op="move", path=new_path, **{"from": old_path})

    def copy(self, original: str, path: str) -> "Patch":
        return self._with(op="copy", path=path, **{"from": original})

    def test(self, path: str, value: Any) -> "Patch":
        return self._with(op="test", path=path, value=value)

    def increment(self, path: str, value: float = 1) -> "Patch":
        return self._with(op="inc", path=path, value=value)

    def decrement(self, path: str, value: float = 1) -> "Patch":
        return self._with(op="dec", path=path, value=value)

    def _with(self, **operation: Any) -> "Patch":
        self.operations.append(operation)
        return self


def patch(
    place: Key, operations: Any, ref: str | None, raise_if_locked: bool, new: str | None = None
) -> Response:
    """The new ref may be made by the caller, who finds the version by it."""
    steps = operations.operations if isinstance(operations, Patch) else operations
    _check_values(steps)
    return changed(place, lambda value: patched(value, steps), ref, raise_if_locked, new)


def _check_values(steps: Any) -> None:
    """Refuse values that no document can hold, before they are copied."""
    for step in steps if isinstance(steps, list | tuple) else ():
        if isinstance(step, dict):
            checked_json(step.get("value"))


def merge(
    place: Key, changes: Any, ref: str | None, raise_if_locked: bool, new: str | None = None
) -> Response:
    checked_json(changes)
    return changed(place, lambda value: merged(value, changes), ref, raise_if_locked, new)


def changed(
    place: Key,
    change: Callable[[Any], Any],
    ref: str | None,
    raise_if_locked: bool,
    new: str | None = None,
) -> Response:
    """Read, change, and write if nobody wrote meanwhile; repeat unless the caller named a ref."""
    demand = Demand.of(checked_ref(ref))
    for _ in range(TRIES):
        current = documents.get(place, raise_if_locked)
        if not current.ok:
            return current
        if demand.if_ref and (refusal := why_unmet(place, demand)):
            return Response.refused(refusal, *place)
        try:
            body = change(current.json)
        except TestFailed as error:
            return Response.refused(PreconditionFailed(str(error)), *place)
        except BadPatch as error:
            return Response.refused(InvalidDocument(str(error)), *place)
        written = documents.put(place, body, Demand.of(current.ref), raise_if_locked, new)
        if written.ok:
            return written
    raise KeyIsContended(f"{'/'.join(place)} changes faster than it can be written")
