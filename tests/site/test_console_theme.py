"""The theme without JavaScript, the search box, the favicon."""

import pytest
from django.contrib.staticfiles import finders

from allocation.events import record


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
    record("instance.added", "instance:web-1")
    client = client_as("viewer")
    assert "/system/" in client.get("/search/?q=syst").text
    assert "/events/?subject=instance%3Aweb-1" in client.get("/search/?q=web-1").text


def test_the_favicon_is_there(client, db):
    assert client.get("/favicon.ico").headers["Location"].endswith("favicon.ico")
    assert finders.find("atributo/img/favicon.ico")


def test_every_icon_that_a_template_names_is_in_the_sprite(db):
    import re
    from pathlib import Path

    sprite = Path(finders.find("atributo/icons.svg")).read_text()
    named = {
        name
        for template in Path("templates").rglob("*.html")
        for name in re.findall(r'(?:icon |art=)"(\w+)"', template.read_text())
    }
    assert [name for name in named if f'id="{name}"' not in sprite] == []
