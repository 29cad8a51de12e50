"""A service that others may write to is not run, and the message says what to do."""

import json
import os
from types import SimpleNamespace

import pytest

from queues.errors import BadService, ScriptNotFound
from queues.sandbox import trust
from queues.services import bundle

ADA = SimpleNamespace(pw_name="ada", pw_gid=1000)


def group(name="ada", gid=1000, members=()):
    return SimpleNamespace(gr_name=name, gr_gid=gid, gr_mem=list(members))


@pytest.fixture
def service(service_roots, settings, tmp_path):
    """A folder with a script, and a module that the script may import."""
    from dataclasses import replace

    folder = tmp_path / "root" / "made"
    (folder / "lib").mkdir(parents=True)
    (folder / "run.py").write_text("def run(context): pass")
    (folder / "lib" / "helper.py").write_text("")
    manifest = {"name": "made", "version": "1.0.0", "scripts": {"run": "run.py"}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    settings.ATRIBUTO = replace(settings.ATRIBUTO, service_roots=(str(folder.parent),))
    for path in [folder.parent, folder, *folder.rglob("*")]:
        path.chmod(0o755)
    return folder


@pytest.mark.parametrize("name", [".", "run.py", "manifest.json", "lib", "lib/helper.py"])
def test_what_everybody_may_write_to_is_not_installed(service, name):
    (service / name).chmod(0o777)
    with pytest.raises(BadService, match=r"may be changed by everybody \(mode 0777\): chmod o-w"):
        bundle.opened("made")


@pytest.mark.parametrize("name", ["..", ".", "run.py"])
def test_a_script_is_not_loaded_once_others_may_change_it(service, name):
    assert trust.trusted_file(service, "run.py")
    (service / name).chmod(0o777)
    with pytest.raises(ScriptNotFound, match="may be changed by everybody"):
        trust.trusted_file(service, "run.py")


@pytest.mark.parametrize("private", [True, False])
def test_a_group_may_write_if_it_is_the_owners_own(service, monkeypatch, private):
    """As in a clone that was made with umask 002."""
    monkeypatch.setattr(trust, "is_private", lambda group, user: private)
    for path in [service.parent, service, *service.rglob("*")]:
        path.chmod(0o775)
    if private:
        assert bundle.opened("made").manifest.name == "made"
    else:
        with pytest.raises(BadService, match=r"may be changed by the group .*: chmod g-w"):
            bundle.opened("made")


@pytest.mark.parametrize(
    ("their_group", "private"),
    [
        (group(), True),
        (group(members=["ada"]), True),
        (group(members=["grace"]), False),
        (group(name="staff"), False),
        (group(gid=50), False),
    ],
)
def test_a_group_is_private_by_its_name_and_its_members(their_group, private):
    assert trust.is_private(their_group, ADA) is private


def test_what_somebody_else_owns_is_refused(service, monkeypatch):
    monkeypatch.setattr(trust, "_owners", lambda: {os.geteuid() + 1})
    with pytest.raises(BadService, match="who is neither its worker's user nor root"):
        bundle.opened("made")


def test_the_owner_of_this_program_may_own_services(service):
    """As where root runs a clone of somebody else's."""
    assert os.stat(trust.__file__).st_uid in trust._owners()
    assert {0, os.geteuid()} <= trust._owners()
