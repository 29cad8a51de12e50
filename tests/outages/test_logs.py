"""While a server is away, every process logs one line, and one when it is back."""

import json

import pytest

from tests.servers.site import Site
from tests.servers.waiting import wait_until

PAGES = ["/", "/api/v1/instances", "/readyz", "/admin/login/", "/metrics"]
SESSION = {"Cookie": f"sessionid={'a' * 32}"}  # the database knows whether there is one
OUTAGE = ["database_away", "database_back"]
OURS = ["web", "worker-1", "curator"]


@pytest.fixture
def site(postgres, tmp_path):
    url = postgres.create_database("site")
    running = Site(tmp_path, DATABASE_URL=url, ATRIBUTO_DEMO="no", ATRIBUTO_METRICS_OPEN="yes")
    try:
        running.start()
        yield running
    finally:
        running.close()


class Logs:
    """What the processes of a site have logged since this was made."""

    def __init__(self, site):
        folder = site.var / "log"
        self._paths = {"up": site.log} | {name: folder / f"{name}.log" for name in OURS}
        self._before = {name: len(path.read_text()) for name, path in self._paths.items()}

    def lines(self, name):
        return self._paths[name].read_text()[self._before[name] :].splitlines()

    def events(self, name):
        told = [json.loads(line) for line in self.lines(name) if line.startswith("{")]
        return [each["event"] for each in told if each["logger"] == "atributo.availability"]

    def all_tell(self, event, names):
        return all(event in self.events(name) for name in names)


def test_one_line_tells_that_a_server_is_away_and_one_that_it_is_back(site, postgres):
    before, logs = site.children(), Logs(site)
    everybody = ["up", *OURS]
    postgres.stop()
    for _ in range(3):
        assert {site.get(page, **SESSION)[0] for page in PAGES} == {503}
    wait_until(lambda: logs.all_tell("database_away", everybody))
    postgres.start()
    wait_until(lambda: logs.all_tell("database_back", everybody))
    before["valkey"].suspend()
    wait_until(lambda: logs.all_tell("redis_away", ["worker-1"]))
    before["valkey"].resume()
    wait_until(lambda: logs.all_tell("redis_back", ["worker-1"]))
    for name in everybody:
        assert [each for each in logs.events(name) if "database" in each] == OUTAGE
        assert not [line for line in logs.lines(name) if "Traceback" in line]
    assert logs.events("worker-1") == [*OUTAGE, "redis_away", "redis_back"]
    assert {each.pid for each in site.children().values()} == {p.pid for p in before.values()}
