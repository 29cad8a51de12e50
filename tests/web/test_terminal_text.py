"""Texts of other people cannot control the terminal that shows them."""

import json
from io import StringIO

import pytest

from atributo_site.commands import AtributoCommand, harmless
from atributo_site.core.errors import AtributoError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "\\u001b[2Jgone"),
        ("a\rb\x07", "a\\u000db\\u0007"),
        ("\x9b31m", "\\u009b31m"),
        ("exe.\u202etxt", "exe.\\u202etxt"),
        ("two\nlines\tand jöb 😀 👨‍👩‍👧", "two\nlines\tand jöb 😀 👨‍👩‍👧"),
    ],
)
def test_what_a_terminal_obeys_is_written_out(text, shown):
    assert harmless(text) == shown


def test_tables_are_harmless():
    said = StringIO()
    AtributoCommand(stdout=said).table(["error"], [["\x1b]0;owned\x07[bold]x"]])
    assert "\\u001b]0;owned\\u0007[bold]x" in said.getvalue()


def test_json_is_harmless_and_means_the_same():
    said = StringIO()
    AtributoCommand(stdout=said).show("\x9b31m\u202e\x1b jöb")
    assert said.getvalue() == '"\\u009b31m\\u202e\\u001b jöb"\n'
    assert json.loads(said.getvalue()) == "\x9b31m\u202e\x1b jöb"


def test_a_refusal_is_harmless():
    said = StringIO()
    with pytest.raises(SystemExit):
        AtributoCommand(stderr=said)._refuse(AtributoError("no \x1b[2J"), False)
    assert said.getvalue() == "no \\u001b[2J\n"
