"""What can be declared, and what is said where something cannot."""

import sys
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from queues.errors import BadPush, ScriptNotFound
from queues.functions import modules
from queues.functions.declaration import declare, lookup
from queues.functions.parameters import from_object, named, split
from queues.tasks import task
from tests.queues.functions.conftest import SHOP


def takes(a, /, b, c=3, *rest, d, e=5, **others):
    return (a, b, c, rest, d, e, others)


def top(a: int = 1):
    return a


def with_option(*, timeout):
    return timeout


def without_place(*, context):
    return context


VALUES = st.integers() | st.text(max_size=3)
NAMES = st.text("xyz", min_size=1, max_size=2)


@given(
    st.lists(VALUES, min_size=2, max_size=6),
    st.fixed_dictionaries({"d": VALUES}, optional={"e": VALUES}),
    st.dictionaries(NAMES, VALUES, max_size=2),
)
def test_arguments_survive_being_stored_by_name(arguments, keywords, others):
    keywords = {**others, **keywords}
    data = named(takes, arguments, keywords, takes_context=False)
    again, keywords_again = split(takes, data, takes_context=False)
    assert takes(*again, **keywords_again) == takes(*arguments, **keywords)
    assert from_object(takes, data, takes_context=False) == data


@given(st.dictionaries(st.sampled_from(["a", "b", "c", "rest", "d", "x"]), VALUES))
def test_an_object_is_a_call_or_a_type_error(data):
    try:
        stored = from_object(takes, data, takes_context=False)
    except TypeError:
        return
    assert {"a", "b", "d"} <= stored.keys()


def test_a_task_stays_a_function():
    decorated = task(top)
    assert (decorated(5), decorated.__name__, decorated.func) == (5, "top", top)
    assert lookup(__name__, "top").function is top


def inner():
    def nested():
        """At no top level."""

    return nested


class Thing:
    def method(self):
        """Of a class."""


BAD = [
    (inner(), {}, "top level of a module"),
    (Thing.method, {}, "top level of a module"),
    (lambda: 1, {}, "top level of a module"),
    (print, {}, "is not a function"),
    (Thing(), {}, "is not a function"),
    (top, {"max_failure": 3}, "unknown option: max_failure"),
    (top, {"timeout": 0}, "timeout must be at least 1 ms"),
    (top, {"delay": 5}, "delay belongs to a push"),
    (top, {"threads": 0}, "threads must be a number"),
    (top, {"threads": 2, "record_start": True}, "exclude each other"),
    (with_option, {}, "timeout is an option of every push"),
    (without_place, {"takes_context": True}, "first parameter must be a place"),
]


@pytest.mark.parametrize(("function", "options", "reason"), BAD, ids=range(len(BAD)))
def test_what_cannot_be_declared_says_why(function, options, reason):
    with pytest.raises(ImproperlyConfigured, match=reason):
        declare(function, **options)


def test_hints_become_a_schema(shop):
    modules.load()
    schema = lookup(SHOP, "typed").schema
    assert schema["properties"] == {
        "kind": {"enum": ["a", "b"]},
        "address": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "zip": {"type": "integer"}},
                    "required": ["street", "zip"],
                },
                {"type": "null"},
            ]
        },
        "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        "urgent": {"type": "boolean", "default": True},
        "rest": {"type": "array", "items": {"type": "number"}},
    }
    assert schema["additionalProperties"] == {"type": "integer"}
    assert schema["required"] == ["kind"]


def unreadable(a: "Missing", b: timedelta, c: dict[str, int], d: int | str, e: str = None):  # noqa: F821, RUF013
    return a


def hinted(b: timedelta, c: dict[str, int], d: int | str, e: str = None):  # noqa: RUF013
    return b


def test_hints_without_a_json_type_take_anything():
    assert declare(unreadable).schema["properties"] == {name: {} for name in "abcde"}
    assert declare(hinted).schema["properties"] == {
        "b": {},
        "c": {"type": "object", "additionalProperties": {"type": "integer"}},
        "d": {"type": ["integer", "string"]},
        "e": {"type": ["string", "null"]},
    }


def test_a_module_that_cannot_be_read_is_named(shop, settings, monkeypatch, tmp_path):
    from dataclasses import replace

    (tmp_path / "broken_jobs.py").write_text(
        "from queues.tasks import task\n@task\ndef f(): pass\nraise OSError('no disk')"
    )
    monkeypatch.syspath_prepend(tmp_path)
    settings.ATRIBUTO = replace(settings.ATRIBUTO, task_modules=("broken_jobs", "no_such_jobs"))
    failures = modules.load()
    assert failures["broken_jobs"] == "OSError: no disk"
    assert "No module named 'no_such_jobs'" in failures["no_such_jobs"]
    with pytest.raises(ScriptNotFound, match="broken_jobs could not be loaded: OSError: no disk"):
        modules.find("broken_jobs", "f")


def test_tasks_of_installed_apps_are_loaded_with_what_lies_below(shop, monkeypatch, tmp_path):
    folder = tmp_path / "toyshop" / "tasks"
    folder.mkdir(parents=True)
    code = "from queues.tasks import task\n@task\ndef pack(): return 1\n"
    for name in ("__init__", "mail"):
        (folder / f"{name}.py").write_text(code)
    (tmp_path / "toyshop" / "__init__.py").write_text("")
    (tmp_path / "toyshop" / "other.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(modules, "discovered", lambda: ["toyshop.tasks", "toyshop.nothing"])
    failures = modules.load()
    assert failures == {}
    assert modules.find("toyshop.tasks", "pack").path == "toyshop.tasks.pack"
    assert modules.find("toyshop.tasks.mail", "pack").module == "toyshop.tasks.mail"
    with pytest.raises(ScriptNotFound, match="toyshop.other is not a module of declared"):
        modules.find("toyshop.other", "pack")
    assert "toyshop.other" not in sys.modules


def test_our_own_apps_are_not_looked_through(shop):
    assert not any(name.startswith(("queues", "atributo_site")) for name in modules.discovered())


def test_what_is_no_code_is_refused(shop):
    with pytest.raises(BadPush, match="neither a script by mount and name nor a declared"):
        modules.to_push(5)
