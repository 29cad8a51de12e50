"""Below a prefix every address of the site begins with it, and at the root none has one."""

import re

import pytest
from django.contrib import admin
from django.urls import include, path

from atributo_site.serving.one_port import OnePort
from tests.console import full_site

admin.autodiscover()

urlpatterns = [
    path("ops/", include("atributo_site.urls")),
    path("admin/", admin.site.urls),
]
ELSEWHERE = ("/ops/", "/admin/", "/static/")


@pytest.fixture
def below_ops(settings):
    settings.ROOT_URLCONF = __name__


def addresses_in(text):
    """Return what the page links to, sends forms to, loads and listens to, from the root on."""
    found = re.findall(r"""(?:href|action|src|data-stream|hx-[a-z]+)=["'](/[^"']*)""", text)
    return found + re.findall(r"https?://testserver(/[^\s&#]*)", text)


@pytest.mark.only_on("sqlite")  # addresses come from templates
@pytest.mark.django_db
def test_no_screen_leads_out_of_the_prefix(settings, client_as):
    full_site.fill("plain")
    screens, client = full_site.screens("plain"), client_as("admin")
    settings.ROOT_URLCONF = __name__
    for name, address in screens.items():
        page = client.get(f"/ops{address}")
        assert page.status_code == 200, name
        away = [each for each in addresses_in(page.text) if not each.startswith(ELSEWHERE)]
        assert not away, (name, away)


@pytest.mark.django_db
def test_the_current_screen_is_marked_below_a_prefix(below_ops, client_as):
    page = client_as("viewer").get("/ops/jobs/").text
    current = re.findall(r'<a href="([^"]+)"[^>]* aria-current="page"', page)
    assert current[0] == "/ops/jobs/"
    assert 'data-stream="/ops/events/stream"' in page


@pytest.mark.django_db
def test_programs_get_problems_below_the_prefix_alone(below_ops, client):
    answer = client.get("/ops/api/v1/jobs")
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert client.get("/api/v1/jobs").status_code == 404


@pytest.mark.django_db
def test_who_is_not_logged_in_comes_back_below_the_prefix(below_ops, client):
    assert client.get("/ops/jobs/").url == "/admin/login/?next=/ops/jobs/"


def test_the_web_server_finds_stream_and_probe_below_the_prefix(below_ops):
    port = OnePort(lambda environ, start: [])
    assert (port._stream_path, port._alive_path) == ("/ops/events/stream", "/ops/healthz")
