"""What others wrote does nothing to the terminal that shows it."""

from io import StringIO

import pytest

from atributo_site.commands import AtributoCommand
from atributo_site.terminal_text import harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\rb\x07", "a\\rb\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("exe.\u202etxt", "exe.\\u202etxt"),
        ("two\nlines\tand jöb 😀 👨‍👩‍👧", "two\nlines\tand jöb 😀 👨‍👩‍👧"),
    ],
)
def test_what_a_terminal_obeys_is_written_out(text, shown):
    assert harmless(text) == shown


def test_tables_are_harmless():
    said = StringIO()
    AtributoCommand(stdout=said).table(["error"], [["\x1b]0;owned\x07[bold]x"]])
    assert "\\x1b]0;owned\\x07[bold]x" in said.getvalue()
