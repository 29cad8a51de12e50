"""The example data on a script's page is valid for the script."""

import json

import pytest

from atributo_site.config.places import BASE_DIR
from atributo_site.console.push.schema_example import example
from queues.schema.validation import check
from tests.factories.jobs import SCHEMA
from tests.factories.schemas import ORDER

MANIFESTS = sorted((BASE_DIR / "services").glob("*/manifest.json"))


def schemas():
    for path in MANIFESTS:
        for name, script in json.loads(path.read_text()).get("scripts", {}).items():
            found = script.get("schema") if isinstance(script, dict) else None
            yield pytest.param(found, id=f"{path.parent.name}/{name}")


@pytest.mark.parametrize("schema", list(schemas()))
def test_the_demo_services_take_their_examples(schema):
    check(schema, example(schema))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "minLength": 9},
        *({"type": "string", "format": name} for name in ("date", "email", "ipv4", "ipv6", "uuid")),
        {"type": "integer", "minimum": 7},
        {"type": "array", "items": {"type": "number"}, "minItems": 2},
        SCHEMA,
        ORDER,
        {"oneOf": [{"const": "air", "title": "By air"}, {"const": "sea"}]},
    ],
)
def test_a_property_has_an_example_that_fits(part):
    whole = {"type": "object", "properties": {"it": part, "other": {}}, "required": ["it"]}
    whole["$defs"] = part.get("$defs", {})
    check(whole, example(whole))
