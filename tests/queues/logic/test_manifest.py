import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.manifest import configuration_errors, missing_options, read, still_valid
from queues.logic.mounts import mount_error, prefix, title

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
GOOD = {"name": "mailer", "version": "1.0.0", "scripts": {"send-mail": "scripts/send.py"}}


def test_a_script_may_be_a_path_alone():
    manifest, errors = read(GOOD)
    assert errors == []
    assert manifest.scripts["send-mail"].title == "Send Mail"


def test_all_errors_are_told_at_once():
    _, errors = read({"name": "3x", "scripts": {"a": "../b.py", "b": {"path": "c.txt"}}})
    assert len(errors) == 4
    assert any("version" in error for error in errors)


@pytest.mark.parametrize("path", ["/etc/x.py", "a/../../x.py", "", "x.txt", "a\\b.py", None, 3])
def test_a_path_must_stay_inside_the_service(path):
    manifest, errors = read({**GOOD, "scripts": {"a": {"path": path}}})
    assert manifest is None
    assert errors


def test_defaults_of_a_script_are_checked_like_a_push():
    script = {"path": "a.py", "max_failures": "many"}
    _, errors = read({**GOOD, "scripts": {"a": script}})
    assert errors == ["script a: max_failures must be a number, not 'many'"]


UNUSABLE = {
    "list as type": {"configuration": {"a": {"type": ["string"]}}},
    "default of the wrong type": {"configuration": {"a": {"default": 5}}},
    "long name": {"name": "a" * 129},
    "long version": {"version": "1" * 65},
    "NUL": {"description": "a\x00b"},
    "NUL in a script's name": {"scripts": {"a\x00": "a.py"}},
    "half a pair": {"keywords": ["\ud800"]},
    "no number": {"scripts": {"a": {"path": "a.py", "max_failures": float("inf")}}},
    "long title": {"scripts": {"a": {"path": "a.py", "title": "t" * 256}}},
    "lib outside": {"lib": "../b"},
}


@pytest.mark.parametrize("part", UNUSABLE.values(), ids=UNUSABLE)
def test_what_cannot_be_stored_or_read_is_an_error(part):
    manifest, errors = read({**GOOD, **part})
    assert manifest is None
    assert len(errors) == 1


@pytest.mark.parametrize("version", ["one", "1.2", "١.٢.٣"])
def test_a_version_that_is_not_semantic_is_a_warning(version):
    manifest, _ = read({**GOOD, "version": version})
    assert manifest.warnings == [f"version is not semantic: {version}"]


def test_paths_are_below_the_lib_folder():
    manifest, _ = read({**GOOD, "lib": "code", "scripts": {"a": "./a.py"}})
    assert manifest.scripts["a"].path == "code/a.py"


@given(json_values)
def test_any_value_is_a_manifest_or_has_errors(value):
    manifest, errors = read(value)
    assert (manifest is None) == bool(errors)


def test_configuration_is_checked_by_type_and_need():
    definitions = read(
        {**GOOD, "configuration": {"port": {"type": "int"}, "note": {"required": False}}}
    )[0].configuration
    assert configuration_errors(definitions, {"colour": 1}) == {
        "colour": "is not allowed",
        "port": "is required",
    }
    assert configuration_errors(definitions, {"port": True}) == {"port": "must be of type int"}
    assert configuration_errors(definitions, {"port": 25}) == {}


@given(st.dictionaries(st.sampled_from(["port", "note", "colour"]), json_values))
def test_what_is_kept_for_another_manifest_lacks_at_most_required_options(values):
    definitions = {"port": {"type": "int", "required": True}, "note": {"type": "string"}}
    kept = still_valid(definitions, values)
    wrong = configuration_errors(definitions, kept)
    assert kept.items() <= values.items() and sorted(wrong) == missing_options(definitions, kept)


REFUSED = ["/_x", "/%x", "/3x", "/app", "/a/app/b", "/a/APP", "/a.b", "/a b", "/a?b", "/a:b"]
REFUSED += ["x", "/", "//a", "/a/", "/_open"]


@pytest.mark.parametrize("mount", REFUSED)
def test_bad_mounts_are_refused(mount):
    assert mount_error(mount) is not None


@pytest.mark.parametrize("mount", ["/unittest/ok", "/mailer", "/a-b/c_d%20", "/_open/x"])
def test_good_mounts_are_accepted(mount):
    assert mount_error(mount) is None


def test_the_prefix_of_a_mount_is_a_name():
    assert prefix("/my-service/v1") == "my_service_v1_"


def test_names_are_shown_as_titles():
    assert [title(n) for n in ("setup", "send-mail", "a_b")] == ["Setup", "Send Mail", "A B"]
