"""Search and sort committed documents by the members of their values.

The conditions are expressions of our own, whose parameters Django counts by place. Django's
key look-ups ask for the type of a member each time before they read it, which took SQLite
twice as long for a hundred thousand documents.
"""

import json
from typing import Any

from django.db.models import BooleanField, Case, F, Func, JSONField, Q, Value, When

from allocation.transactions.errors import InvalidDocument, SecretField
from allocation.transactions.logic.search import (
    All,
    Any_,
    BadQuery,
    Everything,
    Not,
    Term,
    is_number,
    parsed,
    sort_fields,
)
from allocation.transactions.models.document import (
    DocumentQuerySet,
    committed_image,
    first_lines,
)
from atributo_site.core.redaction import looks_secret

Steps = tuple[str, ...]
Sql = tuple[str, Any]
# Matches all that masking looks for in a text, and more; see PASSWORD_IN_ADDRESS.
PASSWORD = "LIKE '%%://%%:%%@%%'"
OPERATORS = {"is": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


class Meets(Func):
    """Whether a member meets a term. Only values of one type are compared."""

    output_field = BooleanField()
    conditional = True

    def __init__(self, column: str, term: Term, secrets: bool = True) -> None:
        super().__init__(F(column))
        self.term = term
        self.is_guarded = isinstance(term.value, str) and not secrets

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Sql:
        inner, given = compiler.compile(self.source_expressions[0])
        paths = sqlite_paths(self.term.field)
        parameters = [part for path in paths for part in (*given, path)]
        kind, member = (_first(name, inner, paths) for name in ("JSON_TYPE", "JSON_EXTRACT"))
        if self.term.test == "exists":
            return f"{kind} IS NOT NULL", parameters
        types = _sqlite_types(self.term.value)
        if self.term.value is None or isinstance(self.term.value, bool):
            return f"IFNULL({kind} IN ({types}), false)", parameters
        test, value = _sqlite_test(self.term)
        guard = f" AND {member} NOT {PASSWORD}" if self.is_guarded else ""
        sql = f"IFNULL({member} {test} AND {kind} IN ({types}){guard}, false)"
        return sql, [*parameters, value, *parameters, *parameters * self.is_guarded]

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Sql:
        inner, given = compiler.compile(self.source_expressions[0])
        parameters = [*given, list(self.term.field)]
        value, member = self.term.value, f"({inner} #> %s)"
        if self.term.test == "exists":
            return f"{member} IS NOT NULL", parameters
        kind = f"jsonb_typeof{member} = '{_postgresql_type(value)}'"
        guard = f" AND ({inner} #>> %s) NOT {PASSWORD}" if self.is_guarded else ""
        guarded = parameters * self.is_guarded
        if self.term.test == "starts":
            sql = f"COALESCE({kind} AND upper({inner} #>> %s) LIKE upper(%s){guard}, false)"
            return sql, [*parameters, *parameters, _pattern(value), *guarded]
        sql = f"COALESCE({member} {OPERATORS[self.term.test]} %s::jsonb AND {kind}{guard}, false)"
        return sql, [*parameters, json.dumps(value), *parameters, *guarded]


class Scalar(Func):
    """A member to sort by; objects, arrays, null and masked values count as missing."""

    output_field = JSONField()

    def __init__(self, column: Any, steps: Steps, secrets: bool = True) -> None:
        super().__init__(column)
        self.steps = steps
        self.is_guarded = not secrets

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Sql:
        inner, given = compiler.compile(self.source_expressions[0])
        paths = sqlite_paths(self.steps)
        parameters = [part for path in paths for part in (*given, path)]
        kind, member = (_first(name, inner, paths) for name in ("JSON_TYPE", "JSON_EXTRACT"))
        guard = f" AND {member} NOT {PASSWORD}" if self.is_guarded else ""
        sql = f"CASE WHEN {kind} NOT IN ('object', 'array'){guard} THEN {member} END"
        return sql, [*parameters, *parameters, *parameters * self.is_guarded]

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Sql:
        inner, given = compiler.compile(self.source_expressions[0])
        parameters = [*given, list(self.steps)]
        guard = f" AND ({inner} #>> %s) NOT {PASSWORD}" if self.is_guarded else ""
        sql = f"""CASE WHEN jsonb_typeof({inner} #> %s) NOT IN ('object', 'array', 'null'){guard}
            THEN {inner} #> %s END"""
        return sql, [*parameters, *parameters, *parameters * self.is_guarded]


def sqlite_paths(steps: Steps) -> list[str]:
    """Return the paths that the steps may mean: a number is a position or a name."""
    paths = ["$"]
    for step in steps:
        ways = [f".{json.dumps(step, ensure_ascii=False)}"]
        ways += [f"[{step}]"] if is_number(step) else []
        paths = [path + way for path in paths for way in ways]
    return paths


def _first(function: str, inner: str, paths: list[str]) -> str:
    calls = ", ".join([f"{function}({inner}, %s)"] * len(paths))
    return f"COALESCE({calls})" if len(paths) > 1 else calls


def _sqlite_types(value: Any) -> str:
    if value is None:
        return "'null'"
    if isinstance(value, bool):
        return "'true'" if value else "'false'"
    return "'text'" if isinstance(value, str) else "'integer', 'real'"


def _sqlite_test(term: Term) -> tuple[str, Any]:
    if term.test == "starts":
        return "LIKE %s ESCAPE '\\'", _pattern(term.value)
    return f"{OPERATORS[term.test]} %s", term.value


def _postgresql_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _pattern(text: str) -> str:
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return f"{text}%"


class Search:
    """Build a search step by step: `Search().query("age:>30").sort("age:desc").limit(10)`."""

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
    documents: DocumentQuerySet,
    query: str,
    sort: str = "",
    *,
    secrets: bool = True,
    seen_by: int | None = None,
) -> DocumentQuerySet:
    """Return documents whose committed value meets the query, in the wanted order.

    A transaction also sees what it wrote itself. Without `secrets` a member is not compared if its
    name looks like that of a secret, or if it may be an address with a password in it.
    """
    try:
        tree, fields = parsed(query), sort_fields(sort)
    except BadQuery as error:
        raise InvalidDocument(f"the query cannot be used: {error}") from error
    if not secrets:
        _refuse_secrets({*_fields(tree), *(steps for steps, _ in fields)})
    lines = first_lines(seen_by).filter(_condition(tree, "before_value", secrets))
    now = _condition(tree, "value", secrets)
    standing = documents.with_images(seen_by).standing(now, lines, seen_by)
    return standing.order_by(*(_order(*field, secrets, seen_by) for field in fields), "key")


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
    """Negate so that a missing member counts as true, which SQL's NOT would call unknown."""
    if not condition:
        return Case(default=Value(False), output_field=BooleanField())
    return Case(
        When(condition, then=Value(False)), default=Value(True), output_field=BooleanField()
    )


def _either(conditions: list[Q]) -> Q:
    if not all(conditions):  # one of them matches everything
        return Q()
    first, *others = conditions
    for other in others:
        first |= other
    return first


def _order(steps: Steps, descending: bool, secrets: bool, seen_by: int | None) -> Any:
    member = committed_image("value", lambda column: Scalar(column, steps, secrets), seen_by)
    return member.desc(nulls_last=True) if descending else member.asc(nulls_last=True)
