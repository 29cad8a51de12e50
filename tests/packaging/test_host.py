"""Inside a project: six lines, and its users, pages, admin and settings stay its own."""

import pytest

from tests.packaging.project import OF_POSTGRESQL, Project
from tests.servers.postgres.server import USER, PostgresCluster
from tests.servers.valkey import ValkeyServer


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


def test_a_project_gets_everything_and_keeps_its_own(project):
    project.manage("migrate", "--verbosity", "0")
    first = project.answer("begin.py")
    assert (first["instance"], first["balance"]) == ("web-1", 7)
    project.manage("worker", "--burst", "mail", "default")
    assert "integrity" in project.manage("run_curator", "--once")
    seen = project.answer("look.py", first["job"], first["task"])
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
