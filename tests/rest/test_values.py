"""A member of a body, a parameter, a form or a command is what it says, and nothing near it."""

import argparse
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from django import forms
from django.core.management import load_command_class
from django.core.management.base import BaseCommand
from rest_framework import serializers

from atributo_site import console
from atributo_site.rest.serializers import StrictSerializer, checked_query

ODD = ["1_0", "١٢", "0x10", "1e1", "nan", "+7", "７"]
ROOMS = ("allocation", "queues", "pools", "atributo_site")
DJANGOS_OWN = {action.dest for action in BaseCommand().create_parser("", "")._actions}


def every_subclass(base):
    found = set(base.__subclasses__())
    return found | {each for kind in found for each in every_subclass(kind)}


def members(kind):
    """Return each body with each of its members that are of this kind."""
    import_module("atributo_site.site_urls")
    return [
        pytest.param(body, name, id=f"{body.__module__}.{body.__name__}.{name}")
        for body in sorted(every_subclass(StrictSerializer), key=str)
        for name, field in body().fields.items()
        if isinstance(field, kind)
    ]


def is_refused(body, name, value, **context):
    given = body(data={name: value}, context=context)
    given.is_valid()
    return name in given.errors


@pytest.mark.parametrize(
    ("body", "name"), members((serializers.IntegerField, serializers.FloatField))
)
def test_a_number_of_a_body_is_a_json_number(body, name):
    for value in [*ODD, "10", "", True, False, [7], {}]:
        assert is_refused(body, name, value), value
    for text in [*ODD, "ten", "true"]:
        assert is_refused(body, name, text, is_query=True), text


@pytest.mark.parametrize(
    ("body", "name"), members((serializers.CharField, serializers.ChoiceField))
)
def test_a_text_of_a_body_is_a_json_text(body, name):
    for value in [7, 7.5, True, [], ["a"], {}]:
        assert is_refused(body, name, value), value


@pytest.mark.parametrize(("body", "name"), members(serializers.BooleanField))
def test_a_flag_of_a_body_is_true_or_false(body, name):
    for value in ["true", "yes", "on", 1, 0, "1", [], {}]:
        assert is_refused(body, name, value), value


@pytest.mark.parametrize(("body", "name"), members(serializers.DateTimeField))
def test_a_moment_of_a_body_is_a_text_in_ascii(body, name):
    for value in ["٢٠٣٠-01-31T12:00:00Z", 7, True, "soon"]:
        assert is_refused(body, name, value), value
    assert not is_refused(body, name, "2030-01-31T12:00:00Z")


class Sample(StrictSerializer):
    count = serializers.IntegerField(required=False)
    share = serializers.FloatField(required=False)
    names = serializers.ListField(child=serializers.CharField(), required=False)
    sizes = serializers.DictField(child=serializers.IntegerField(), required=False)


def test_whole_numbers_are_whole_however_json_writes_them():
    for value, read in [(7, 7), (7.0, 7), (-1, -1)]:
        body = Sample(data={"count": value})
        assert body.is_valid() and body.validated_data["count"] == read
    assert is_refused(Sample, "count", 7.5)
    assert checked_query(Sample, {"count": "-7", "share": "0.5"}) == {"count": -7, "share": 0.5}


def test_lists_and_objects_are_looked_into():
    assert is_refused(Sample, "names", ["a", 7])
    assert is_refused(Sample, "sizes", {"a": "1_0"})
    assert not is_refused(Sample, "sizes", {"a": 10})


@pytest.mark.parametrize(
    ("method", "address", "body", "wrong"),
    [
        ("POST", "instances", {"id": "web-1", "weight": "1_0"}, "weight"),
        ("POST", "instances", {"id": "web-1", "lease_seconds": True}, "lease_seconds"),
        ("POST", "queues", {"name": 7}, "name"),
        ("POST", "queues", {"name": "mail", "max_workers": "١٢"}, "max_workers"),
        ("POST", "queues/mail/jobs", {"script": {"mount": "/a", "name": 7}}, "script"),
        ("POST", "job-ids", {"count": "1_0"}, "count"),
        ("GET", "locks?transaction=1_0", None, "transaction"),
        ("GET", "locks?transaction=١٢", None, "transaction"),
        ("GET", "jobs?upto=1_0", None, "upto"),
        ("GET", "collections/c?limit=1_0", None, "limit"),
        ("GET", "events?since=٢٠٣٠-01-31T12:00:00Z", None, "since"),
        ("GET", "events?limit=١٢", None, "limit"),
    ],
)
def test_what_looks_like_a_number_is_400_from_outside(rest_as, method, address, body, wrong):
    client = rest_as("admin")
    sent = {"data": body, "content_type": "application/json"} if body else {}
    answer = getattr(client, method.lower())(f"/api/v1/{address}", **sent)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [wrong])


def every_form():
    folder = Path(console.__file__).parent
    for section in [each.name for each in iter_modules([str(folder)]) if each.ispkg]:
        if (folder / section / "forms.py").exists():
            import_module(f"atributo_site.console.{section}.forms")
    ours = [each for each in every_subclass(forms.BaseForm) if "atributo_site" in each.__module__]
    return sorted(ours, key=str)


@pytest.mark.parametrize("form", every_form(), ids=str)
def test_a_number_of_a_form_has_ascii_digits(form):
    numbers = {
        name: field
        for name, field in form.base_fields.items()
        if isinstance(field, forms.IntegerField | forms.DecimalField)
    }
    for field in numbers.values():
        for text in ODD:
            with pytest.raises(forms.ValidationError):
                field.to_python(text)
        assert field.to_python(" 12 ") in (12, 12.0)


def every_command():
    return [
        pytest.param(room, name, id=name)
        for room in ROOMS
        for name in [each.name for each in iter_modules([f"{room}/management/commands"])]
    ]


def typed_options(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from typed_options(verb)
        elif action.type and action.metavar != "JSON" and action.dest not in DJANGOS_OWN:
            yield action


def reads(option, text):
    try:
        value = option.type(text)
    except (ValueError, TypeError, argparse.ArgumentTypeError):
        return None
    return value if isinstance(value, int | float) else None


@pytest.mark.parametrize(("room", "name"), every_command())
def test_a_number_of_a_command_has_ascii_digits(room, name):
    for option in typed_options(load_command_class(room, name).create_parser("manage.py", name)):
        assert [text for text in ODD if reads(option, text) is not None] == [], option.dest
