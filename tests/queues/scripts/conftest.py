"""Services that a test writes itself, and a child that runs their scripts."""

import json
from dataclasses import replace

import pytest

from queues.models import Catalogue
from queues.services import installation
from tests.queues.worker.child_calls import messages


@pytest.fixture
def root(settings, tmp_path, transactional_db, service_roots, monkeypatch):
    """An empty service root."""
    place = tmp_path / "root"
    place.mkdir()
    roots = (*service_roots, str(place))
    monkeypatch.setenv("ATRIBUTO_SERVICE_ROOTS", ",".join(roots))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")  # as where people run it
    settings.ATRIBUTO = replace(settings.ATRIBUTO, service_roots=roots)
    return place


@pytest.fixture
def write(root):
    """write("made", {"a.py": "…"}, configuration={…}) → the folder; each script is one file."""

    def files(name, texts, scripts=None, **manifest):
        folder = root / name
        scripts = scripts or {path.removesuffix(".py"): path for path in texts if "/" not in path}
        given = {"name": name, "version": "1.0.0", "scripts": scripts, **manifest}
        for path, text in {**texts, "manifest.json": json.dumps(given)}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    return files


@pytest.fixture
def service(write):
    """service("made", {"a.py": "…"}) → the folder, installed at /made."""

    def install(name, texts, scripts=None, development=False, **manifest):
        folder = write(name, texts, scripts, **manifest)
        installation.install(name, f"/{name}", setup=False, development=development)
        return folder

    return install


@pytest.fixture
def ended(workhorse):
    """ended("/made", "a") → the message about the end of that run, always in the same child."""

    def run(mount, script, data=None, **more):
        revision = Catalogue.objects.values_list("revision", flat=True).get()
        facts = {"mount": mount, "script": script, "data": data, "timeout_ms": None, **more}
        workhorse.give(
            [{"run_failures": 0, "back_off": None, "revision": revision, "job": None, **facts}], 0.0
        )
        *_, done = messages(workhorse)
        return done

    return run


@pytest.fixture
def result(ended):
    """result("/made", "a") → what the script returned."""

    def run(mount, script, data=None):
        done = ended(mount, script, data)
        assert done["ok"], done["traceback"]
        return done["result"]

    return run
