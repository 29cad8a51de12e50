"""docs/manifest.md names every field that the code accepts, and no other."""

import json
import re

import pytest

from atributo_site.manual.pages import page
from queues.logic import manifest
from queues.logic.options import PUSH_ONLY, Options

TEXT = page("manifest").text


def section(title):
    return TEXT.partition(f"## {title}")[2].partition("\n## ")[0]


def first_cells(text):
    """Return the names in the first column of the tables of a text."""
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_fields_of_the_service_are_those_of_the_code():
    assert first_cells(section("Fields of the service")) == manifest.KNOWN


def test_the_fields_of_a_script_are_those_of_the_code():
    assert first_cells(section("Fields of a script")) == set(manifest.OF_A_SCRIPT)


def test_the_options_of_a_push_alone_are_named():
    (sentence,) = re.findall(r"cannot stand in a manifest:(.*?)\.", TEXT, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", sentence)) == PUSH_ONLY


def test_the_types_of_an_option_are_those_of_the_code():
    found = first_cells(section("Fields of an option"))
    assert found == set(manifest.TYPES) | {"type", "required", "default", "description"}


def test_the_example_is_a_manifest():
    (example,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    read, errors = manifest.read(json.loads(example))
    assert errors == [] and read.warnings == []
    assert read.scripts["count-words"].path == "scripts/count_words.py"


@pytest.mark.parametrize(
    "name", ["back_off", "max_failures", "repeat_times", "repeat_delay", "timeout"]
)
def test_the_defaults_are_those_of_the_code(name):
    (row,) = re.findall(rf"^\| `{name}` \| (.*?) \|", TEXT, re.MULTILINE)
    assert row == str(getattr(Options(), name)).replace("None", "none")


def test_the_limits_are_those_of_the_code():
    assert f"from 1 to {manifest.MOST_THREADS}" in TEXT
    for name, most in manifest.LONGEST.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*", TEXT, re.MULTILINE)
        assert f"at most {most:,} characters" in row or f"of at most {most:,} characters" in row
