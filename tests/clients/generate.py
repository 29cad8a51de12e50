"""Write the generated part of the client from the OpenAPI document and the server's errors.

`python -m tests.clients.generate` writes the files; a test compares them with what it would write.
"""

import os
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "clients/python/atributo_client/generated"
SIGN = "Written by `python -m tests.clients.generate`; change nothing here."
NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
# Options are bodies without the members that are arguments of their own.
OPTIONS = {
    "PushOptions": ("NewJob", {"script", "data"}),
    "PushManyOptions": ("NewJobs", {"script", "data"}),
    "QueueOptions": ("NewQueue", {"name"}),
    "PoolOptions": ("NewPool", {"name", "domain"}),
    "InstallOptions": ("Install", {"mount", "folder"}),
    "ChangeOptions": ("Change", {"folder"}),
    "TokenOptions": ("NewToken", {"name", "level"}),
    "LookUpOptions": ("LookUp", {"host"}),
    "ScheduleOptions": ("NewSchedule", {"name", "script", "rule"}),
    "BackfillOptions": ("Backfill", {"since", "until"}),
    "ScheduleRuleOptions": ("ScheduleRule", {"rule"}),
    "BatchOptions": ("NewBatch", {"queue"}),
    "OperationOptions": ("NewOperation", {"action", "query"}),
}
WITH_ERRORS = [
    "atributo_site.core.errors",
    "atributo_site.rest.idempotency",
    "atributo_site.rest.preconditions",
    "atributo_site.serving.stream",
    "atributo_site.web.tokens",
    "allocation.errors",
    "allocation.transactions.errors",
    "allocation.transactions.engine.roll_back",
    "allocation.transactions.curator.operator_actions",
    "allocation.transactions.curator.status",
    "queues.errors",
    "pools.errors",
]


def files() -> dict[str, str]:
    """Return the text of each generated file."""
    from drf_spectacular.generators import SchemaGenerator

    document = SchemaGenerator().get_schema(public=True)
    schemas = {
        name: schema
        for name, schema in document["components"]["schemas"].items()
        if not name.startswith(("script.", "Paginated")) and name != "Problem"
    }
    sent = named_in(bodies_of(document), schemas)
    kept = {name for name in schemas if name not in sent}
    return {
        "bodies.py": bodies({name: schemas[name] for name in sorted(sent)}),
        "answers.py": answers({name: schemas[name] for name in sorted(kept)}, sent),
        "queries.py": queries(document),
        "errors.py": errors(),
    }


def operations(document):
    return [
        operation
        for methods in document["paths"].values()
        for operation in methods.values()
        if "operationId" in operation
    ]


def bodies_of(document):
    bodies = [operation.get("requestBody", {}) for operation in operations(document)]
    return [body.get("content", {}).get("application/json", {}).get("schema") for body in bodies]


def named_in(parts, schemas) -> set[str]:
    """Return the names of all schemas that the parts refer to, directly or not."""
    names = {name for part in parts for name in refs_in(part) if name in schemas}
    deeper = {inner for name in names for inner in refs_in(schemas[name])}
    return names if deeper <= names else names | named_in([schemas[n] for n in names], schemas)


def refs_in(part) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"].rpartition("/")[2]} if "$ref" in part else set()
        return own.union(*map(refs_in, part.values()))
    return set().union(*map(refs_in, part)) if isinstance(part, list) else set()


def bodies(schemas) -> str:
    text = f'"""What requests send. {SIGN}"""\n\nfrom datetime import datetime\n'
    text += "from typing import Any, Literal, NotRequired, TypedDict\n"
    for name, schema in schemas.items():
        text += typed_dict(name.removeprefix("Patched"), schema, "datetime | str")
    for name, (whole, without) in OPTIONS.items():
        left = {k: v for k, v in schemas[whole]["properties"].items() if k not in without}
        text += typed_dict(name, {**schemas[whole], "properties": left}, "datetime | str")
    return without_twins(text)


def without_twins(text: str) -> str:
    """Leave one of a body and the patched one of the same name, which are alike here."""
    head, *classes = text.split("\n\n\nclass ")
    by_name = {each.partition("(")[0]: each for each in reversed(classes)}
    return "\n\n\nclass ".join([head.rstrip("\n"), *(by_name[n] for n in sorted(by_name))]) + "\n"


def answers(schemas, sent) -> str:
    used = sorted({name for schema in schemas.values() for name in refs_in(schema)} & set(sent))
    text = f'"""What the site answers. {SIGN}"""\n\n'
    text += "from typing import Any, Literal, NotRequired, TypedDict\n"
    if used:
        text += f"\nfrom atributo_client.generated.bodies import {', '.join(used)}\n"
    text += "".join(typed_dict(name, schema, "str") for name, schema in schemas.items())
    return text.rstrip("\n") + "\n"


def queries(document) -> str:
    text = f'"""What lists can be asked for. {SIGN}"""\n\nfrom datetime import datetime\n'
    text += "from typing import Literal, NotRequired, TypedDict\n"
    for operation in sorted(operations(document), key=lambda each: each["operationId"]):
        asked = {
            each["name"]: each["schema"]
            for each in operation.get("parameters", [])
            if each["in"] == "query" and each["name"] != "mount"
        }
        if asked:
            name = "".join(word.title() for word in operation["operationId"].split("_")) + "Query"
            text += typed_dict(name, {"properties": asked}, "datetime | str")
    return text.rstrip("\n") + "\n"


def typed_dict(name: str, schema, moment: str) -> str:
    assert all(k.isidentifier() and not iskeyword(k) for k in schema.get("properties", {})), name
    lines = [f"\n\nclass {name}(TypedDict):"]
    needed = schema.get("required", [])
    for member, part in schema.get("properties", {}).items():
        kind = quoted(type_of(part, moment), part)
        lines.append(f"    {member}: {kind if member in needed else f'NotRequired[{kind}]'}")
    return "\n".join(lines) + "\n" + ("" if schema.get("properties") else "    pass\n")


def quoted(kind: str, part) -> str:
    return f'"{kind}"' if refs_in(part) else kind


def type_of(part, moment: str) -> str:
    if "$ref" in part:
        return part["$ref"].rpartition("/")[2]
    if "oneOf" in part:
        kinds = [type_of(each, moment) for each in part["oneOf"]]
        return "Any" if "Any" in kinds else " | ".join(dict.fromkeys(kinds))
    kinds = part.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if part.get("enum") and moment != "str":  # a later site may answer with other words
        values = ", ".join(f'"{v}"' if isinstance(v, str) else repr(v) for v in part["enum"])
        return f"Literal[{values}]"
    return " | ".join(one_type(kind, part, moment) for kind in kinds) or "Any"


def one_type(kind: str, part, moment: str) -> str:
    if kind == "array":
        return f"list[{type_of(part.get('items', {}), moment)}]"
    if kind == "object":
        values = part.get("additionalProperties")
        return f"dict[str, {type_of(values, moment) if isinstance(values, dict) else 'Any'}]"
    is_moment = kind == "string" and part.get("format") == "date-time"
    return moment if is_moment else NAMES[kind]


def errors() -> str:
    from atributo_site.core.errors import AtributoError

    classes = {
        each.__name__: each
        for module in reversed(WITH_ERRORS)
        for each in vars(import_module(module)).values()
        if isinstance(each, type)
        and issubclass(each, AtributoError)
        and each is not AtributoError
        and each.__module__ == module
    }
    text = f'"""The errors of the rooms, by the names of the server. {SIGN}"""\n\n'
    text += "from atributo_client.failures import AtributoError\n"
    ordered = sorted(classes.values(), key=lambda each: (len(each.__mro__), each.__name__))
    for each in ordered:
        said = each.__dict__.get("__doc__")
        text += f"\n\nclass {each.__name__}({each.__mro__[1].__name__}):\n"
        text += f'    """{said.strip().splitlines()[0]}"""\n\n' if said else ""
        text += f'    code = "{each.code}"\n'
    return text


def write() -> None:
    for name, text in files().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    django.setup()
    write()
