"""Search: a tree of conditions as a filter on committed values."""

import json
from typing import Any

from django.db.models import BooleanField, Case, CharField, F, Func, Q, Value, When
from django.db.models.fields.json import KeyTransform
from django.db.models.lookups import In, IsNull

from allocation.logic.search import All, Any_, BadQuery, Everything, Not, Term, parsed, sort_fields
from allocation.transactions.errors import InvalidDocument
from allocation.transactions.models.document import DocumentQuerySet

Steps = tuple[str, ...]
VALUE = "committed_value"
LOOKUPS = {"is": "exact", "starts": "istartswith"}


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


def searched(documents: DocumentQuerySet, query: str, sort: str = "") -> DocumentQuerySet:
    """Those whose committed value meets the query, in the order asked for."""
    try:
        tree, fields = parsed(query), sort_fields(sort)
    except BadQuery as error:
        raise InvalidDocument(f"the query cannot be used: {error}") from error
    orders = [_order(field, descending) for field, descending in fields]
    members = {steps: f"member_{number}" for number, steps in enumerate(sorted(_fields(tree)))}
    named = documents.alias(**{name: _member(steps) for steps, name in members.items()})
    return named.filter(_condition(tree, members)).order_by(*orders, "key")


class JsonType(Func):
    """The type of a member in the database's own word; NULL where there is no such member."""

    output_field = CharField()

    def __init__(self, steps: Steps) -> None:
        super().__init__(F(VALUE))
        self.steps = steps

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        inner, parameters = compiler.compile(self.source_expressions[0])
        return f"JSON_TYPE({inner}, %s)", [*parameters, self._path()]

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        inner, parameters = compiler.compile(self.source_expressions[0])
        return f"jsonb_typeof({inner} #> %s)", [*parameters, list(self.steps)]

    def _path(self) -> str:
        return "$" + "".join(
            f"[{step}]" if step.isdigit() else f".{json.dumps(step, ensure_ascii=False)}"
            for step in self.steps
        )


def _fields(tree: Any) -> set[Steps]:
    match tree:
        case Term(field=field):
            return {field}
        case Not(item=item):
            return _fields(item)
        case All(items=items) | Any_(items=items):
            return set().union(*map(_fields, items))
    return set()


def _condition(tree: Any, members: dict[Steps, str]) -> Q:
    match tree:
        case Everything():
            return Q()
        case Not(item=item):
            return Q(_negated(_condition(item, members)))
        case All(items=items):
            return Q(*[_condition(item, members) for item in items])
        case Any_(items=items):
            return _either([_condition(item, members) for item in items])
    return _term(tree, members[tree.field])


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


def _term(term: Term, member: str) -> Q:
    kind = JsonType(term.field)
    if term.test == "exists":
        return Q(IsNull(kind, False))
    same_type = Q(In(kind, _types(term.value)))
    if term.value is None:
        return same_type
    return same_type & Q(**{f"{member}__{LOOKUPS.get(term.test, term.test)}": term.value})


def _types(value: Any) -> list[str]:
    """Only like is compared with like; SQLite and PostgreSQL name types differently."""
    if value is None:
        return ["null"]
    if isinstance(value, bool):
        return ["boolean", "true", "false"]
    return ["string", "text"] if isinstance(value, str) else ["number", "integer", "real"]


def _member(steps: Steps) -> Any:
    member: Any = F(VALUE)
    for step in steps:
        member = KeyTransform(step, member)
    return member


def _order(steps: Steps, descending: bool) -> Any:
    member = _member(steps)
    return member.desc(nulls_last=True) if descending else member.asc(nulls_last=True)
