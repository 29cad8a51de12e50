"""The site in production behind nginx, with exactly the block that docs/operations.md prints."""

import re
from contextlib import ExitStack

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User

from atributo_site.core.events import record
from atributo_site.core.models import Event
from tests.servers import patient_http
from tests.servers.nginx import Nginx
from tests.serving.sse_client import Listening

pytestmark = [pytest.mark.soak, pytest.mark.only_on("postgresql")]
PASSWORD = "correct horse battery staple"
HOME, STRANGER, PROXY = "127.0.0.2", "127.0.0.66", "127.0.0.1"


@pytest.fixture
def site(spawn, free_port, wait_until, tmp_path):
    """Start nginx before a web process with the environment of the docs, except for the port."""
    environment = {
        "ATRIBUTO_ENV": "production",
        "ATRIBUTO_SECRET_KEY": "x" * 50,
        "ATRIBUTO_VAR_DIR": str(tmp_path / "var"),
        "ATRIBUTO_PORT": str(free_port),
        "ATRIBUTO_BEHIND_PROXY": "yes",
        "ATRIBUTO_PROXIES": "127.0.0.1,::1",
        "ATRIBUTO_ALLOWED_HOSTS": "127.0.0.1",
    }
    assert spawn("collectstatic", "--noinput", env=environment).wait() == 0
    web = spawn("web", env=environment)
    wait_until(lambda: patient_http.answers(f"http://127.0.0.1:{free_port}"), 60, web.output())
    nginx = Nginx(tmp_path / "nginx", free_port)
    yield nginx
    nginx.close()


@pytest.fixture
def vera(transactional_db):
    user = User.objects.create_user("vera", password=PASSWORD)
    user.groups.set(Group.objects.filter(name="viewer"))
    return user


@pytest.fixture
def visitor(site):
    """Return a factory of clients that reach nginx from a given address."""
    with ExitStack() as opened:

        def open_one(address=HOME):
            transport = httpx.HTTPTransport(local_address=address, verify=False)
            client = patient_http.Client(base_url=site.url, transport=transport)
            return opened.enter_context(client)

        yield open_one


def log_in(client, name="vera", password=PASSWORD, **headers):
    page = client.get("/admin/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]
    form = {"csrfmiddlewaretoken": token, "username": name, "password": password}
    origin = str(client.base_url).rstrip("/")
    return client.post("/admin/login/", data=form, headers={"Origin": origin, **headers})


def test_log_in_pages_stream_and_addresses_work(site, visitor, vera, wait_until):
    plain = patient_http.get(f"{site.plain_url}/jobs/")
    assert plain.headers["Location"] == "https://127.0.0.1/jobs/"
    client = visitor()
    assert log_in(client).headers["Location"] == "/"
    assert client.cookies["__Host-session"]
    pages = [client.get(path).status_code for path in ("/", "/jobs/", "/events/", "/api/v1/me")]
    assert pages == [200] * 4
    style = re.search(r'href="(/static/[^"]+\.css)"', client.get("/").text)[1]
    assert client.get(style).status_code == 200
    event = Event.objects.get(kind="user.logged_in")
    assert event.facts["address"] == HOME
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    with Listening(f"{site.url}/events/stream", {"Cookie": cookies}, verify=False) as stream:
        record("a.made", "a:1")
        wait_until(lambda: "a:1" in stream.subjects())


def test_a_stranger_locks_only_themselves(visitor, vera):
    stranger = visitor(STRANGER)
    names = [f"nobody-{number}" for number in range(settings.AXES_FAILURE_LIMIT)]
    answers = [log_in(stranger, name, "wrong").status_code for name in names]
    assert answers == [200] * 19 + [429]
    assert log_in(visitor(STRANGER)).status_code == 429
    claimed = {"X-Forwarded-For": HOME, "Forwarded": f"for={HOME}"}
    assert log_in(visitor(STRANGER), **claimed).status_code == 429
    assert log_in(visitor()).status_code == 302


def test_a_stranger_beside_the_proxy_locks_nobody_out(visitor, vera):
    """All clients have the proxy's address, so the limits cannot tell them apart."""
    stranger = visitor(PROXY)
    names = [f"nobody-{number}" for number in range(settings.AXES_FAILURE_LIMIT + 1)]
    assert {log_in(stranger, name, "wrong").status_code for name in names} == {200}
    assert log_in(visitor(PROXY)).status_code == 302
    assert log_in(visitor()).status_code == 302
