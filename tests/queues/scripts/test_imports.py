"""A service is a package of its own: its scripts import the modules beside them."""

import os

import pytest

PLAIN = "import helper\ndef run(context): return helper.NAME"
RELATIVE = "from .helper import NAME\ndef run(context): return NAME"
LATE = "def run(context):\n    import helper\n    return helper.NAME"
ANYWHERE = [PLAIN, RELATIVE, LATE]


@pytest.mark.parametrize("text", ANYWHERE)
def test_a_script_imports_the_module_beside_it(service, result, text):
    service("one", {"a.py": text, "helper.py": "NAME = 'one'"})
    assert result("/one", "a") == "one"


@pytest.mark.parametrize("text", ANYWHERE)
def test_two_services_have_modules_of_the_same_name(service, result, text):
    for name in ("one", "other"):
        service(name, {"a.py": text, "helper.py": f"NAME = {name!r}"})
    mounts = ["/one", "/other", "/one", "/one", "/other"]
    assert [result(mount, "a") for mount in mounts] == ["one", "other", "one", "one", "other"]


def test_a_module_keeps_its_state_while_another_service_runs(service, result):
    count = "CALLS = []\ndef call():\n    CALLS.append(1)\n    return len(CALLS)"
    text = "import helper\nfrom . import helper as same\n"
    text += "def run(context): return [helper.call(), helper is same]"
    for name in ("one", "other"):
        service(name, {"a.py": text, "helper.py": count})
    mounts = ["/one", "/other", "/one"]
    assert [result(mount, "a") for mount in mounts] == [[1, True], [1, True], [2, True]]


def test_scripts_of_one_service_share_a_module_and_import_each_other(service, result):
    first = "import helper\nhelper.SEEN.append('a')\ndef run(context): return helper.SEEN"
    second = "import a\ndef run(context): return a.run(context)"
    service("one", {"a.py": first, "b.py": second, "helper.py": "SEEN = []"})
    assert [result("/one", "a"), result("/one", "b")] == [["a"], ["a"]]


@pytest.mark.parametrize(
    "text",
    [
        "from lib.names import NAME",
        "from ..lib.names import NAME",
        "import lib.names\nNAME = lib.names.NAME",
        "from lib import names\nNAME = names.NAME",
        "from plain import names\nNAME = names.NAME",
    ],
)
def test_a_package_of_the_service_is_found_from_every_folder(service, result, text):
    files = {
        "scripts/a.py": f"{text}\ndef run(context): return NAME",
        "lib/__init__.py": "",
        "lib/names.py": "from .parts import NAME",
        "lib/parts.py": "NAME = 'lib'",
        "plain/names.py": "NAME = 'lib'",
    }
    service("one", files, {"a": "scripts/a.py"})
    assert result("/one", "a") == "lib"


def test_each_folder_has_its_own_neighbours(service, result):
    names = ("first", "second")
    files = {f"{name}/a.py": PLAIN for name in names}
    files |= {f"{name}/helper.py": f"NAME = {name!r}" for name in names}
    service("one", files, {name: f"{name}/a.py" for name in names})
    assert [result("/one", name) for name in (*names, *names)] == [*names, *names]


def test_a_library_is_not_hidden_by_a_module_beside_the_script(service, result):
    text = "import colorsys, queues\nfrom . import colorsys as ours\n"
    text += "def run(context): return [hasattr(colorsys, 'rgb_to_hsv'), ours.NAME]"
    service(
        "one", {"a.py": text, "colorsys.py": "NAME = 'ours'", "queues.py": "1/0"}, {"a": "a.py"}
    )
    assert result("/one", "a") == [True, "ours"]


def test_a_folder_of_ours_is_no_library(service, result):
    """`docs` and `templates` lie where the worker was started: Python takes them for packages."""
    service("one", {"a.py": PLAIN.replace("helper", "templates"), "templates.py": "NAME = 1"})
    assert result("/one", "a") == 1


def test_modules_that_import_each_other_are_no_matter(service, result):
    files = {"one_way.py": "import other_way\nNAME = 'round'", "other_way.py": "import one_way"}
    service("one", {"a.py": PLAIN.replace("helper", "one_way"), **files}, {"a": "a.py"})
    assert result("/one", "a") == "round"


def test_an_upgrade_brings_its_modules(service, write, result):
    service("one", {"a.py": PLAIN, "helper.py": "NAME = 'old'"})
    assert result("/one", "a") == "old"
    from queues.services import installation

    write("one", {"a.py": PLAIN, "helper.py": "NAME = 'new'"})
    installation.upgrade("one", "/one")
    assert result("/one", "a") == "new"


def test_setup_imports_too(write, scripts_start_quickly):
    from queues.services import installation

    text = "import helper\nfrom . import helper\ndef run(context): pass"
    write("one", {"setup.py": text, "helper.py": ""}, {"setup": "setup.py"})
    assert installation.install("one", "/one").pk


def test_a_module_that_is_not_there_is_a_failure_that_names_it(service, ended):
    service("one", {"a.py": PLAIN})
    done = ended("/one", "a")
    assert done["error"] == "ModuleNotFoundError: No module named 'helper'"


@pytest.mark.parametrize("text", ANYWHERE)
def test_a_module_that_others_may_change_is_not_run(service, ended, text):
    folder = service("one", {"a.py": text, "helper.py": "NAME = 1"})
    (folder / "helper.py").chmod(0o666)
    assert "helper.py may be changed by everybody" in ended("/one", "a")["error"]


def test_a_module_that_is_a_link_to_elsewhere_is_not_run(service, ended, tmp_path):
    (tmp_path / "helper.py").write_text("NAME = 1")
    folder = service("one", {"a.py": PLAIN})
    (folder / "helper.py").symlink_to(tmp_path / "helper.py")
    assert "outside the service roots" in ended("/one", "a")["error"]


def test_a_function_of_the_site_never_meets_a_services_modules(service, result, ended):
    service("one", {"a.py": PLAIN, "helper.py": "NAME = 'one'"})
    assert result("/one", "a") == "one"
    assert ended("", "helper:NAME")["error"].startswith("ScriptNotFound")


def test_a_class_of_a_script_is_found_by_its_module(service, result):
    """As dataclasses and pickle look for it."""
    text = "from __future__ import annotations\nimport dataclasses, pickle\n"
    text += "@dataclasses.dataclass\nclass Order:\n    amount: int = 3\n"
    text += "def run(context): return pickle.loads(pickle.dumps(Order())).amount"
    service("one", {"my.first-script.py": text}, {"a": "my.first-script.py"})
    assert result("/one", "a") == 3


def test_no_byte_code_is_written_into_the_folder(service, result, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    hack = "import os, sys\nsys.path.insert(0, os.path.dirname(__file__) + '/more')\nimport extra\n"
    files = {"a.py": hack + PLAIN, "helper.py": "NAME = 1", "more/extra.py": ""}
    folder = service("one", files, {"a": "a.py"})
    assert result("/one", "a") == 1
    assert [place for place, _, _ in os.walk(folder)] == [str(folder), str(folder / "more")]


def test_old_byte_code_in_the_folder_is_not_read(service, result):
    import py_compile

    folder = service("one", {"a.py": PLAIN, "helper.py": "NAME = 'old'"})
    stat = (folder / "helper.py").stat()
    py_compile.compile(str(folder / "helper.py"))
    (folder / "helper.py").write_text("NAME = 'new'")
    os.utime(folder / "helper.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert result("/one", "a") == "new"


class TestDevelopment:
    @pytest.mark.parametrize("text", ANYWHERE)
    def test_a_changed_module_is_read_anew_within_the_same_second(self, service, result, text):
        folder = service("one", {"a.py": text, "helper.py": "NAME = 1"}, development=True)
        moment = (folder / "helper.py").stat()
        assert result("/one", "a") == 1
        for number in (2, 3):
            (folder / "helper.py").write_text(f"NAME = {number}")
            os.utime(folder / "helper.py", ns=(moment.st_atime_ns, moment.st_mtime_ns))
            assert result("/one", "a") == number

    def test_a_changed_script_is_read_anew_within_the_same_second(self, service, result):
        folder = service("one", {"a.py": "def run(context): return 1"}, development=True)
        moment = (folder / "a.py").stat()
        assert result("/one", "a") == 1
        (folder / "a.py").write_text("def run(context): return 2")
        os.utime(folder / "a.py", ns=(moment.st_atime_ns, moment.st_mtime_ns))
        assert result("/one", "a") == 2

    def test_a_new_module_is_found_at_once(self, service, result, ended):
        folder = service("one", {"a.py": PLAIN}, development=True)
        assert not ended("/one", "a")["ok"]
        (folder / "helper.py").write_text("NAME = 1")
        assert result("/one", "a") == 1

    def test_setup_and_the_script_after_it_share_their_modules(self, service, result):
        setup = "import helper\ndef run(context): helper.SEEN.append(1)"
        script = "import helper\ndef run(context): return helper.SEEN"
        files = {"setup.py": setup, "a.py": script, "helper.py": "SEEN = []"}
        service("one", files, {"setup": "setup.py", "a": "a.py"}, development=True)
        assert [result("/one", "a"), result("/one", "a")] == [[1], [1]]
