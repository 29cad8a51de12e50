"""Inside a project: six lines, and its users, pages, admin and settings stay its own."""

import json
import subprocess
from contextlib import closing

import pytest

from tests.fixtures.browser import PATIENCE_MS
from tests.packaging.environment import ROOT
from tests.packaging.project import OF_POSTGRESQL, Project
from tests.servers.postgres.server import USER, PostgresCluster
from tests.servers.valkey import ValkeyServer
from tests.servers.watched_page import WatchedPage

PROGRAM = ROOT / "tests" / "packaging" / "elsewhere" / "program.py"


@pytest.fixture
def valkey():
    with ValkeyServer() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def project(request, installed, tmp_path, valkey):
    made = Project(installed, tmp_path / "shop", valkey.url)
    if request.param == "sqlite":
        yield made
        return
    with PostgresCluster() as cluster:
        cluster.create_database("shop")
        made.add(OF_POSTGRESQL.format(name="shop", host=str(cluster.directory), user=USER))
        yield made


@pytest.fixture
def run_alone(client_alone, tmp_path):
    """Run a program in the environment of the client; its lines can be read and answered."""
    started = []

    def run(*words):
        asked = client_alone.asked("python", *words, cwd=tmp_path)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        started.append(subprocess.Popen(**asked, **pipes))
        return started[-1]

    yield run
    for each in started:
        each.kill()
        each.communicate()


def test_a_project_gets_everything_and_keeps_its_own(project, run_alone, lent_browser, free_port):
    project.manage("migrate", "--verbosity", "0")
    first = project.answer("begin.py")
    assert (first["instance"], first["balance"]) == ("web-1", 7)
    site = f"http://127.0.0.1:{free_port}"
    with project.served(free_port) as server:
        program = run_alone(PROGRAM, f"{site}/ops", first["token"])
        program.stdout.readline()
        server.kill()
        server.wait()
    program.stdin.write("\n")
    program.stdin.flush()
    with project.served(free_port):
        pushed = json.loads(program.stdout.readline())
        assert pause_as_root(lent_browser, site) == []
    project.manage("worker", "--burst", "mail", "default")
    assert "integrity" in project.manage("run_curator", "--once")
    seen = project.answer("look.py", first["job"], first["task"])
    assert sorted([*pushed, first["job"]]) == seen["multiplied"]  # none is lost, none came twice
    assert (seen["status"], seen["rest"]) == ("complete", 42)
    assert (seen["functions"], seen["greeting"]) == (["Hello Ann", "HEY"], True)
    assert seen["names"] == ["/jobs/", "/ops/jobs/"]
    assert seen["log-in"] == "/enter/?next=/ops/jobs/"
    assert seen["own pages"] == ["<title>The shop</title>\n", "<title>Staff of the shop</titl"]
    assert set(seen["screens"].values()) == {200}, seen["screens"]
    assert seen["roles"] == [200, 403]
    assert (seen["paused"], seen["event"]) == (302, ["olga", "browser"])
    assert seen["token"] == 201
    assert seen["problem"] == "application/problem+json"
    assert seen["frame"] == [True, False]
    assert "(atributo.E" not in seen["check"]
    assert seen["groups"] == []
    ours = ("allocation_", "queues_", "pools_", "atributo_", "knox_")
    assert [name for name in seen["tables"] if name.startswith(ours)] == []
    assert "members_member" in seen["tables"]


def pause_as_root(browser, site):
    """Log in by the project's own page, and pause and resume a queue; return what went wrong."""
    with closing(browser.new_context(base_url=site)) as context:
        context.set_default_timeout(PATIENCE_MS)
        watched = WatchedPage(context.new_page(), site.removeprefix("http://"))
        page = watched.page
        page.goto("/ops/queues/mail/")
        assert page.url == f"{site}/enter/?next=/ops/queues/mail/"
        page.get_by_label("Username").fill("root")
        page.get_by_label("Password").fill("secret")
        page.get_by_role("button", name="Enter").click()
        page.get_by_role("button", name="Pause").click()
        page.get_by_text("Paused by root").wait_for()
        page.get_by_role("button", name="Resume").click()
        page.get_by_text("Up to 1 job at once").wait_for()
    return watched.troubles
