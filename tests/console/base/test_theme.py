"""The theme without JavaScript, the search box, the favicon."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from atributo_site.config.places import BASE_DIR
from atributo_site.core.events import record

TEMPLATES = [path.read_text() for path in (BASE_DIR / "templates").rglob("*.html")]


def test_the_theme_is_remembered_in_a_cookie(client, db):
    response = client.post("/theme", {"theme": "dark", "next": "/admin/login/?next=/"})
    assert response.headers["Location"] == "/admin/login/?next=/"
    assert 'data-theme="dark"' in client.get("/admin/login/").text


@pytest.mark.parametrize("target", ["https://example.net/", "//example.net", "javascript:alert(1)"])
def test_the_theme_form_leads_to_no_other_site(target, client, db):
    assert client.post("/theme", {"theme": "dark", "next": target}).headers["Location"] == "/"


def test_an_unknown_theme_is_refused(client, db):
    assert client.post("/theme", {"theme": "<b>"}).status_code == 400


def test_a_cookie_of_somebody_else_is_not_believed(client, db):
    client.cookies["theme"] = '"><script>'
    assert 'data-theme="auto"' in client.get("/admin/login/").text


def test_search_finds_screens_and_subjects(client_as, db):
    record("process.died", "process:web-1")
    client = client_as("viewer")
    assert "/system/" in client.get("/search/?q=syst").text
    assert "/events/?subject=process%3Aweb-1" in client.get("/search/?q=web-1").text


def test_the_favicon_is_there(client, db):
    assert client.get("/favicon.ico").headers["Location"].endswith("favicon.ico")
    assert finders.find("atributo/img/favicon.ico")


def test_every_icon_that_a_template_names_is_in_the_sprite():
    sprite = Path(finders.find("atributo/icons.svg")).read_text()
    named = {name for text in TEMPLATES for name in re.findall(r'(?:icon |\bart=)"(\w+)"', text)}
    assert [name for name in named if f'id="{name}"' not in sprite] == []


@pytest.mark.parametrize(
    "wrong", [r"\sstyle=", r"\son\w+=", r"<script(?![^>]*\ssrc=)", r"<style", "//cdn"]
)
def test_no_template_needs_a_weaker_policy(wrong):
    assert [text for text in TEMPLATES if re.search(wrong, text)] == []


@pytest.mark.parametrize("wrong", [r"\|\s*safe\b", r"autoescape off"])
def test_no_template_switches_escaping_off(wrong):
    assert [text for text in TEMPLATES if re.search(wrong, text)] == []


def test_rows_stand_close_unless_somebody_chooses_otherwise(client_as, db):
    client = client_as("viewer")
    assert 'data-density="compact"' in client.get("/").text
    assert client.post("/theme", {"density": "comfortable", "next": "/jobs/"}).url == "/jobs/"
    assert 'data-density="comfortable"' in client.get("/").text
    assert 'data-theme="auto"' in client.get("/").text


@pytest.mark.parametrize("form", [{}, {"density": "tight"}, {"theme": "dark", "density": "x"}])
def test_a_look_that_there_is_not_is_refused(form, client_as, db):
    client = client_as("viewer")
    assert client.post("/theme", form).status_code == 400
    assert not {"theme", "density"} & set(client.cookies)
