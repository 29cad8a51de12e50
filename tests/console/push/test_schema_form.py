"""The form made from a schema has a field of its own for every kind of member."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.console.push.schema_example import example
from atributo_site.console.push.schema_form import SchemaForm
from queues.errors import DataRefused
from queues.models import QueuedJob
from queues.schema.validation import check
from tests.factories.jobs import make_queue, make_script
from tests.factories.schemas import DATA, ORDER, TYPED

URL = "/services/mailer/-/scripts/send-mail/"


def inputs(form):
    return {each.input_name: each for each in form.inputs()}


@pytest.mark.parametrize(
    ("name", "kind", "limits"),
    [
        ("data-when", "date", {}),
        ("data-mail", "email", {"maxlength": 40}),
        ("data-site", "url", {}),
        ("data-host", "text", {}),
        ("data-copies", "number", {"min": 1, "max": 9, "step": 1}),
        ("data-weight", "number", {"min": 0, "step": 0.25}),
        ("data-to/since", "date", {}),
        ("data-to/place/x", "number", {"step": "any"}),
    ],
)
def test_every_kind_has_its_own_input(name, kind, limits):
    made = inputs(SchemaForm(ORDER))[name]
    assert (made.input_type, made.limits) == (kind, limits)


def test_choices_have_words():
    made = inputs(SchemaForm(ORDER))
    assert made["data-way"].choices == [('"air"', "By air"), ('"sea"', "By sea")]
    assert made["data-size"].choices == [('"s"', "s"), ('"m"', "m"), ("3", "3"), ("null", "null")]


def test_what_is_typed_is_data_and_fills_the_form_again():
    assert SchemaForm(ORDER).read(TYPED) == DATA
    assert check(ORDER, DATA) == DATA
    again = {
        name: "yes" if each.checked else each.value
        for name, each in inputs(SchemaForm(ORDER, DATA)).items()
        if each.checked or each.value
    }
    assert again == {name: text for name, text in TYPED.items() if text != "null"}


def test_an_optional_object_that_is_left_empty_is_left_out():
    typed = dict.fromkeys(inputs(SchemaForm(ORDER)), "") | {"data-when": "2026-01-31"}
    assert SchemaForm(ORDER).read(typed) == {"when": "2026-01-31"}
    needed = {**ORDER, "required": ["to"]}
    assert SchemaForm(needed).read(typed)["to"] == {"street": "", "at/home": False}


def test_only_what_must_be_filled_in_is_required():
    assert not inputs(SchemaForm(ORDER))["data-to/street"].required
    made = inputs(SchemaForm({**ORDER, "required": ["to"]}))
    assert made["data-to/street"].required and not made["data-to/since"].required


@pytest.mark.parametrize("extra", [{"more": 1}, {"to": {"street": "x", "more": 1}}, {"to": "x"}])
def test_data_that_no_field_can_hold_is_kept_as_json(extra):
    data = {**DATA, **extra}
    form = SchemaForm(ORDER, data)
    typed = {each.input_name: "yes" if each.checked else each.value for each in form.inputs()}
    typed = {"data": form.text} if form.whole else {k: v for k, v in typed.items() if v}
    assert (
        SchemaForm(ORDER).read({**typed, **({} if form.whole else {"data-size": "null"})}) == data
    )


def test_a_value_that_is_no_choice_is_not_lost():
    made = inputs(SchemaForm(ORDER, {"way": "rail"}))["data-way"]
    assert made.choices[-1] == ('"rail"', "rail")


def test_a_text_that_an_input_cannot_hold_is_shown_as_text():
    made = inputs(SchemaForm(ORDER, {"when": "soon", "copies": "many", "mail": "x"}))
    kinds = [made[f"data-{name}"].input_type for name in ("when", "copies", "mail")]
    assert kinds == ["text", "text", "email"]
    made = inputs(SchemaForm(ORDER, {"when": "٢٠٢٦-٠١-٣١", "copies": "١٢"}))
    assert [made[f"data-{name}"].input_type for name in ("when", "copies")] == ["text", "text"]


@pytest.mark.parametrize(
    ("typed", "name", "said"),
    [
        ({"data-when": "31.1.2026"}, "data-when", "must be a date such as"),
        ({"data-mail": "ada"}, "data-mail", "must be an email address"),
        ({"data-way": ""}, "data-way", "is missing"),
        ({"data-to/since": "soon"}, "data-to/since", "must be a date such as"),
        ({"data-to/street": ""}, "data-to/street", "is missing"),
        ({"data-to/place/x": "far"}, "data-to/place/x", 'must be a number, not "far"'),
    ],
)
def test_a_reason_stands_at_the_innermost_field(typed, name, said):
    form = SchemaForm(ORDER)
    with pytest.raises(DataRefused) as refusal:
        check(ORDER, form.read({**TYPED, **typed}))
    form.refuse(refusal.value)
    assert said in inputs(form)[name].error and form.error == ""


def test_a_schema_that_refers_to_itself_ends_as_json():
    node = {"type": "object", "properties": {"value": {}, "next": {"$ref": "#/$defs/node"}}}
    made = inputs(SchemaForm({"$ref": "#/$defs/node", "$defs": {"node": node}}))
    assert made["data-next/next/next/next/next"].kind == "json"


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=3), lambda inner: (
    st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "properties", "$ref", "enum", "const", "oneOf", "required",
                         "minimum", "multipleOf", "format", "title", "default", "prefixItems"]),
        inner | st.sampled_from(["object", "string", "integer", "date", "#", "#/properties"]),
        max_size=4))))  # fmt: skip
def test_any_schema_has_a_form_that_can_be_read(schema):
    """It may be an old one, from before they were checked."""
    if isinstance(schema, dict) and not isinstance(schema.get("required", []), list):
        schema["required"] = []
    form = SchemaForm(schema if isinstance(schema, dict) else None)
    form.read({each.input_name: "1" for each in form.inputs()})
    example(schema)


@pytest.mark.django_db
def test_the_page_has_them_and_pushes_what_is_typed(client_as):
    make_script(schema=ORDER)
    make_queue()
    client = client_as("operator")
    page = client.get(URL).text
    for name, kind in (("when", "date"), ("mail", "email"), ("copies", "number")):
        assert re.search(f'<input name="data-{name}" type="{kind}"', page)
    assert '<fieldset class="group"><legend>Address</legend>' in page
    assert 'name="data-to/place/x" type="number"' in page
    assert '<option value="&quot;sea&quot;">By sea</option>' in page
    client.post(f"{URL}push", {**TYPED, "queue": "mail"})
    assert QueuedJob.objects.get().data == DATA


@pytest.mark.django_db
def test_an_address_fills_in_groups_and_data_as_json(client_as):
    make_script(schema=ORDER)
    client = client_as("operator")
    link = client.post(URL, {**TYPED, "link": "yes"}).headers["Location"]
    page = client.get(link).text
    assert 'name="data-to/place/x" type="number" value="7.5"' in page
    link = client.post(URL, {"data": '{"more": 1}', "link": "yes"}).headers["Location"]
    assert "&quot;more&quot;: 1" in client.get(link).text
