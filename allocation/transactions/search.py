"""Search: a tree of conditions as a filter on committed values."""

from typing import Any

from django.db.models import BooleanField, Case, Q, Value, When

from allocation.logic.search import All, Any_, BadQuery, Everything, Not, Term, parsed, sort_fields
from allocation.logic.secrets import looks_secret
from allocation.transactions.errors import InvalidDocument, SecretField
from allocation.transactions.models.document import (
    DocumentQuerySet,
    committed_image,
    first_lines,
)
from allocation.transactions.search_sql import Meets, Scalar, Steps


class Search:
    """Builds a search step by step: `Search().query("age:>30").sort("age:desc").limit(10)`."""

    def __init__(self) -> None:
        self.words: dict[str, Any] = {"query": "*"}

    def query(self, text: str) -> "Search":
        return self._with(query=text)

    def sort(self, text: str) -> "Search":
        return self._with(sort=text)

    def limit(self, number: int) -> "Search":
        return self._with(limit=number)

    def offset(self, number: int) -> "Search":
        return self._with(offset=number)

    def _with(self, **words: Any) -> "Search":
        self.words.update(words)
        return self


def searched(
    documents: DocumentQuerySet, query: str, sort: str = "", *, secrets: bool = True
) -> DocumentQuerySet:
    """Those whose committed value meets the query, in the order asked for.

    Without `secrets` no member is looked at whose name looks like a secret's, and none that may
    be an address with a password in it.
    """
    try:
        tree, fields = parsed(query), sort_fields(sort)
    except BadQuery as error:
        raise InvalidDocument(f"the query cannot be used: {error}") from error
    if not secrets:
        _refuse_secrets({*_fields(tree), *(steps for steps, _ in fields)})
    lines = first_lines().filter(_condition(tree, "before_value", secrets))
    standing = documents.with_images().standing(_condition(tree, "value", secrets), lines)
    return standing.order_by(*(_order(*field, secrets) for field in fields), "key")


def _refuse_secrets(fields: set[Steps]) -> None:
    for steps in sorted(fields):
        if any(looks_secret(step) for step in steps):
            raise SecretField(f"{'.'.join(steps)} is masked, so it cannot be searched or sorted by")


def _fields(tree: Any) -> set[Steps]:
    match tree:
        case Term(field=field):
            return {field}
        case Not(item=item):
            return _fields(item)
        case All(items=items) | Any_(items=items):
            return set().union(*map(_fields, items))
    return set()


def _condition(tree: Any, column: str, secrets: bool) -> Q:
    match tree:
        case Everything():
            return Q()
        case Not(item=item):
            return Q(_negated(_condition(item, column, secrets)))
        case All(items=items):
            return Q(*[_condition(item, column, secrets) for item in items])
        case Any_(items=items):
            return _either([_condition(item, column, secrets) for item in items])
    return Q(Meets(column, tree, secrets))


def _negated(condition: Q) -> Case:
    """True as well where a member is missing, which SQL's own NOT would call unknown."""
    if not condition:
        return Case(default=Value(False), output_field=BooleanField())
    return Case(
        When(condition, then=Value(False)), default=Value(True), output_field=BooleanField()
    )


def _either(conditions: list[Q]) -> Q:
    if not all(conditions):  # one of them is «everything»
        return Q()
    first, *others = conditions
    for other in others:
        first |= other
    return first


def _order(steps: Steps, descending: bool, secrets: bool) -> Any:
    member = committed_image("value", lambda column: Scalar(column, steps, secrets))
    return member.desc(nulls_last=True) if descending else member.asc(nulls_last=True)
