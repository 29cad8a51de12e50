"""JSON that folds."""

from atributo_site.template_tags.json_view import json_tree


def test_big_numbers_stay_exact():
    shown = json_tree({"n": 12345678901234567890123, "f": 0.1})
    assert "12345678901234567890123" in shown
    assert ">0.1<" in shown


def test_texts_are_escaped_and_secrets_hidden():
    shown = json_tree({"<b>": "<i>", "password": "hunter2"})
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert "hunter2" not in shown


def test_outer_levels_are_open_and_long_lists_are_counted():
    shown = json_tree({"a": {"b": {"c": list(range(500))}}})
    assert shown.count("<details open>") == 2
    assert "… and 300 more" in shown
    assert "{ 1 key }" in shown and "[ 500 items ]" in shown
