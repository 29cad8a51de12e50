"""The commands of the recipes do with what the recipes give: user, folders, signals."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from allocation.models import Instance
from tests.deploy import recipes
from tests.servers import patient_http
from tests.servers.ports import free_port
from tests.servers.process import ManagedProcess
from tests.servers.waiting import wait_until

GRACE_SECONDS = 120  # of this busy machine; the recipes have their own
# As in a container: the root is read-only, and only the state and a folder for temporary files
# can be written. That is not /tmp itself, where this checkout may be.
IN_A_BOX = """
mount --make-rprivate /
if [ -n "$CLOSED" ]; then  # a Python in somebody's home, which the image does not have
    mkdir "$BOX/python"
    mount --bind "$HOME_OF_PYTHON" "$BOX/python"
    mount -t tmpfs -o mode=0755 tmpfs "$CLOSED"
    mkdir -p "$HOME_OF_PYTHON"
    mount --bind "$BOX/python" "$HOME_OF_PYTHON"
fi
mount -t tmpfs -o mode=0700,uid=10001,gid=10001 tmpfs "$ATRIBUTO_VAR_DIR"
mount -t tmpfs -o mode=1777 tmpfs "$TMPDIR"
mount -o remount,bind,ro /
as_nobody="setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set=-all"
touch /written-outside && exit 3
$as_nobody "$PYTHON" "$ROOT/manage.py" migrate --noinput
$as_nobody "$PYTHON" "$ROOT/manage.py" collectstatic --noinput
exec $as_nobody "$PYTHON" "$ROOT/manage.py" web
"""


def can_make_a_box():
    try:
        box = ["unshare", "--mount", "sh", "-ec", "mount --make-rprivate /; setpriv --version"]
        return subprocess.run(box, capture_output=True).returncode == 0
    except OSError:
        return False


def closed_to_others(path):
    """Return the first folder on the way to a path that others may not enter."""
    way = [path, *path.parents][::-1]
    return next((str(each) for each in way if not each.stat().st_mode & 0o001), "")


@pytest.fixture
def box():
    """Make a folder that everybody may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="atributo-box-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(
    not can_make_a_box() or closed_to_others(recipes.ROOT) != "",
    reason="this user may not make a mount namespace, or others may not read this checkout",
)
def test_web_starts_and_stops_as_nobody_with_a_read_only_root(box):
    port, state, log = free_port(), box / "state", box / "log"
    state.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ATRIBUTO_")}
    given = {
        "ATRIBUTO_VAR_DIR": str(state),
        "ATRIBUTO_PORT": str(port),
        "REDIS_URL": "redis://127.0.0.1:9/0",  # one that is away stops nothing
        "DATABASE_URL": "",
        "PYTHON": sys.executable,
        "ROOT": str(recipes.ROOT),
        "HOME": "/nonexistent",
        "BOX": str(box),
        "TMPDIR": "/var/tmp",  # noqa: S108 # an empty one, in the box
        "HOME_OF_PYTHON": sys.base_prefix,
        "CLOSED": closed_to_others(Path(sys.base_prefix)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with log.open("wb") as out:
        web = subprocess.Popen(
            ["unshare", "--mount", "sh", "-ec", IN_A_BOX],
            env=kept | given,
            cwd="/",
            stdout=out,
            stderr=out,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: web.poll() is not None or patient_http.answers(url), 300)
        assert web.poll() is None, log.read_text()
        assert os.stat(f"/proc/{web.pid}").st_uid == 10001
        web.terminate()
        assert web.wait(GRACE_SECONDS) == 0, log.read_text()
    finally:
        if web.poll() is None:
            web.kill()
            web.wait()


@pytest.mark.only_on("sqlite")  # the commands are those of any database
def test_a_sticky_worker_takes_no_keys_before_it_stops_and_is_back_after(
    tmp_path, spawn, process_environment, transactional_db
):
    line = recipes.before_a_stop()["sticky-worker"]
    worker = spawn("worker", "--instance", "sticky-worker-0", "--name", "sticky-worker-0")
    wait_until(lambda: is_available() is True, 120)
    ran = before_the_stop(line, tmp_path, process_environment)
    assert ran.returncode == 0, ran.stderr
    assert is_available() is False and worker.is_running()
    stop(worker)
    assert is_available() is False
    spawn("worker", "--instance", "sticky-worker-0", "--name", "sticky-worker-0")
    wait_until(lambda: is_available() is True, 120)


def is_available():
    return Instance.objects.filter(pk="sticky-worker-0").values_list("available", flat=True).first()


def before_the_stop(line, folder, environment):
    """Run the line of the recipe in a shell that finds our program by its name."""
    program = folder / "atributo"
    words = shlex.join([sys.executable, str(recipes.ROOT / "manage.py")])
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    given = {**environment, "POD_NAME": "sticky-worker-0", "PATH": path}
    return subprocess.run(["sh", "-c", line], env=given, capture_output=True, text=True)


def stop(worker: ManagedProcess):
    os.kill(worker.pid, 15)
    wait_until(lambda: worker.returncode is not None, GRACE_SECONDS)
    assert worker.returncode == 0, worker.output()
