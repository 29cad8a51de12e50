"""What a script does to its process ends with its run, and never reaches the next one."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone
from queues.sandbox.sealing import for_scripts
from tests.queues.worker.child_calls import messages, work
from tests.servers.process import has_ended

SECRET = "canary-of-the-site"
SETSID = "import os, sys, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
NAP = "open(sys.argv[1], 'w').write(str(os.getpid()))\ntime.sleep(600)\n"


def does_nothing(file):
    return os.getpid()


def tells_its_surroundings(file):
    mask = os.umask(0o022)
    os.umask(mask)
    return {
        "folder": os.getcwd(),
        "mask": mask,
        "variable": os.environ.get("CANARY"),
        "alarm": signal.getitimer(signal.ITIMER_REAL)[0],
        "handler": str(signal.getsignal(signal.SIGUSR2)),
        "blocked": sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))),
        "stack": resource.getrlimit(resource.RLIMIT_STACK),
        "niceness": os.getpriority(os.PRIO_PROCESS, 0),
        "dumps": json.dumps({"a": 1}),
        "stderr": sys.stderr is not None,
    }


def changes_folder_and_mask(file):
    os.chdir("/")
    os.umask(0o077)
    os.environ["CANARY"] = "sings"
    signal.setitimer(signal.ITIMER_REAL, 600)
    sys.stderr = None


def handles_signals(file):
    signal.signal(signal.SIGUSR2, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


def changes_limits(file):
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, hard))
    os.nice(5)


def breaks_json(file):
    json.dumps = lambda *_, **__: "nonsense"


def leaks_a_descriptor(file):
    os.open(os.devnull, os.O_RDONLY)
    return os.getpid()


def leaves_a_thread(file):
    threading.Thread(target=time.sleep, args=[600], daemon=True).start()
    return os.getpid()


def leaves_a_daemon(file):
    subprocess.run([sys.executable, "-c", SETSID + NAP, file], check=True)
    while not os.path.exists(file) or not Path(file).read_text():
        time.sleep(0.001)
    return os.getpid()


def leaves_a_daemon_and_dies(file):
    leaves_a_daemon(file)
    os.kill(os.getpid(), signal.SIGKILL)


def forks_and_returns_twice(file):
    os.fork()
    return "twice"


def raises_its_limit(file):
    before = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (ValueError, OSError):
        return before == resource.getrlimit(resource.RLIMIT_AS)
    return False


def tells_what_it_finds(file):
    """Everything that lies open: variables, /proc of itself and its forebears, descriptors."""
    found = [repr(dict(os.environ))]
    pid = os.getpid()
    for _ in range(3):
        for name in ("environ", "cmdline"):
            try:
                found.append(Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="replace"))
            except OSError:
                found.append("")
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return "".join(found).replace("\0", " ")


def tells_the_key(file):
    from django.conf import settings

    keys = [settings.ATRIBUTO.secret_key, *settings.SECRET_KEY_FALLBACKS]
    return [*keys, vars(sys.modules[settings.SETTINGS_MODULE]).get("SECRET_KEY", "")]


def tells_its_descriptors(file):
    places = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            places[name] = os.readlink(f"/proc/self/fd/{name}")
    return places


CHANGES = [
    changes_folder_and_mask,
    handles_signals,
    changes_limits,
    breaks_json,
    leaks_a_descriptor,
    leaves_a_thread,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_next_job_inherits_nothing(run, change):
    before, changed, after = run(tells_its_surroundings, change, tells_its_surroundings)
    assert changed["ok"], changed
    assert after["result"] == before["result"]


@pytest.mark.parametrize("change", [changes_folder_and_mask, handles_signals, leaves_a_thread])
def test_the_next_job_of_the_same_batch_inherits_nothing(workhorse, run, change):
    (before,) = run(tells_its_surroundings)
    workhorse.give([work(change), work(tells_its_surroundings)], time.monotonic() + 60)
    first, second = workhorse.receive(30.0), workhorse.receive(30.0)
    if second["t"] == "stopped":  # the process was spent, and another one follows
        (second,) = run(tells_its_surroundings)
    assert first["ok"], first
    assert second["result"] == before["result"]


@pytest.mark.parametrize("change", [changes_limits, breaks_json, leaks_a_descriptor])
def test_another_service_of_the_same_batch_waits_for_another_process(workhorse, change):
    other = {**work(does_nothing), "mount": "/other"}
    workhorse.give([work(change), other], time.monotonic() + 60)
    first, second = workhorse.receive(30.0), workhorse.receive(30.0)
    assert first["spent"]
    assert second["t"] == "stopped"


def test_a_job_that_leaves_nothing_keeps_its_process(run):
    first, second = run(does_nothing, does_nothing)
    assert first["result"] == second["result"]


@pytest.mark.parametrize("leave", [leaks_a_descriptor, leaves_a_thread])
def test_a_process_that_kept_something_is_replaced(run, leave):
    first, second = run(leave, does_nothing)
    assert first["result"] != second["result"]
    assert has_ended(first["result"])


@pytest.mark.parametrize("leave", [leaves_a_daemon, leaves_a_daemon_and_dies])
def test_a_daemon_ends_with_its_run(workhorse, tmp_path, leave):
    file = tmp_path / "pid"
    workhorse.give([work(leave, file)], 0.0)
    try:
        *_, done = messages(workhorse)
        assert done["spent"] == "processes"
    except ChildGone:
        assert workhorse.reap() == "killed (signal 9, SIGKILL)"
    assert has_ended(int(file.read_text()))


def test_a_daemon_ends_with_its_worker(tmp_path, wait_until):
    """Killed with -9, so that it can end nothing by itself."""
    file = tmp_path / "pid"
    code = (
        "import django; django.setup()\n"
        "from queues.children.child_process import Workhorse\n"
        "from tests.queues.worker.test_isolation import *\n"
        "horse = Workhorse(512)\n"
        f"horse.give([work(leaves_a_daemon_for_long, {str(file)!r})], 0.0)\n"
        "time.sleep(600)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "atributo_site.settings"}
    worker = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        wait_until(lambda: file.exists() and file.read_text(), 60)
    finally:
        worker.kill()
        worker.wait()
    wait_until(lambda: has_ended(int(file.read_text())))


def leaves_a_daemon_for_long(file):
    leaves_a_daemon(file)
    time.sleep(600)


def test_a_copy_of_the_process_does_not_go_on_with_the_jobs(workhorse):
    workhorse.give([work(forks_and_returns_twice), work(does_nothing)], time.monotonic() + 60)
    first, second = workhorse.receive(30.0), workhorse.receive(30.0)
    assert (first["ok"], first["spent"]) == (True, "processes")
    assert second["t"] == "stopped"


def test_a_script_cannot_raise_its_limit(run):
    (done,) = run(raises_its_limit)
    assert done["result"] is True


def test_credentials_are_nowhere_to_be_found(run, monkeypatch):
    monkeypatch.setenv("ATRIBUTO_SECRET_KEY", SECRET)
    monkeypatch.setenv("DATABASE_URL", f"postgresql://ada:{SECRET}@db/site")
    found, keys = run(tells_what_it_finds, tells_the_key)
    assert "PATH" in found["result"]
    assert SECRET not in found["result"]
    assert not any(keys["result"])


def test_a_started_interpreter_hides_what_it_was_started_with(monkeypatch):
    monkeypatch.setenv("CANARY", SECRET)
    monkeypatch.setenv("ATRIBUTO_TASK_MODULES", __name__)
    horse = Workhorse(512, fork=False)
    try:
        horse.give([work(tells_what_it_finds)], 0.0)
        *_, done = messages(horse)
    finally:
        horse.close()
    assert done["ok"], done
    assert SECRET not in done["result"]


def test_scripts_see_what_is_listed():
    environ = {"PATH": "/bin", "LC_ALL": "C", "PYTHONPATH": "x", "DATABASE_URL": "y", "MINE": "z"}
    assert set(for_scripts(environ, ["MINE"])) == {"PATH", "LC_ALL", "PYTHONPATH", "MINE"}


def test_descriptors_of_the_worker_lead_nowhere(run, tmp_path):
    with open(tmp_path / "log", "w"):
        (done,) = run(tells_its_descriptors)
    assert not any(str(tmp_path) in place for place in done["result"].values())


class TestServices:
    """Two services whose jobs follow each other in one process."""

    ONE = """
import decimal, logging, os, random, sys, warnings
sys.path.insert(0, os.path.dirname(__file__))
import helper
warnings.simplefilter("error")
decimal.getcontext().prec = 3
logging.root.handlers.clear()
random.seed(7)
def run(context):
    import helper
    return helper.NAME
"""
    OTHER = """
import decimal, logging, sys, warnings
def run(context):
    helper = sys.modules.get("helper")
    return [helper is None, decimal.getcontext().prec, len(logging.root.handlers),
            warnings.filters[0][0] if warnings.filters else None,
            any("one" in path for path in sys.path)]
"""

    @pytest.fixture
    def services(self, settings, tmp_path, transactional_db):
        from dataclasses import replace

        from queues.services import installation

        settings.ATRIBUTO = replace(settings.ATRIBUTO, service_roots=(str(tmp_path),))
        for name, text in (("one", self.ONE), ("other", self.OTHER)):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "run.py").write_text(text)
            (folder / "helper.py").write_text(f"NAME = {name!r}")
            manifest = {"name": name, "version": "1.0.0", "scripts": {"run": "run.py"}}
            (folder / "manifest.json").write_text(json.dumps(manifest))
            installation.install(name, f"/{name}")

    def test_modules_and_their_settings_stay_with_their_service(self, services, workhorse):
        def result(mount):
            job = {**work(does_nothing), "mount": mount, "script": "run", "data": None}
            workhorse.give([job], 0.0)
            *_, done = messages(workhorse)
            return done["result"]

        clean = result("/other")
        assert clean[0] is True
        assert [result("/one"), result("/one")] == ["one", "one"]
        assert result("/other") == clean
        assert result("/one") == "one"
