"""The pages at /docs/: each opens, each link leads to a page and an anchor, none leads outside."""

import re
from html import unescape

import pytest
from django.core.management import CommandError, call_command

from atributo_site.console.docs.detail import address_of
from atributo_site.manual import pages
from atributo_site.manual.markdown import render
from atributo_site.template_tags.concepts import CONCEPTS

# Files do not depend on the database.
pytestmark = [pytest.mark.django_db, pytest.mark.only_on("sqlite")]
LINK = re.compile(r'(?:href|src)="([^"]+)"')


@pytest.fixture(scope="module")
def articles():
    """Return the text of every page by its address."""
    return {
        address_of("page", name): str(render(page, address_of).body)
        for name, page in pages.pages().items()
    }


def test_every_kind_of_page_opens(client_as):
    client = client_as("viewer")
    names = ["", "concepts/", "decisions/", "decisions/0001-settings-stop-at-import/", "changelog/"]
    answers = [client.get(f"/docs/{name}") for name in names]
    assert [answer.status_code for answer in answers] == [200] * len(names)
    assert [answer.text.count("<h1>") for answer in answers] == [1] * len(names)


def test_every_link_of_every_page_leads_to_a_page_and_an_anchor(articles):
    broken, pictures = [], set()
    for here, text in articles.items():
        for link in LINK.findall(text):
            address, _, anchor = unescape(link).partition("#")
            if address.startswith("/docs/images/"):
                pictures.add(address)
            elif not address.startswith("https://"):
                target = articles.get(address or here)
                known = target is not None and (not anchor or f'id="{anchor}"' in target)
                broken += [] if known else [(here, link)]
    assert broken == []
    kinds = {pages.picture(address.rpartition("/")[2])[1] for address in pictures}
    assert kinds == {"image/png", "image/svg+xml"}


def test_no_page_loses_a_link(articles):
    """A link that leads to no page would be plain text here."""
    lost = {address: re.findall("<span>.*?</span>", text) for address, text in articles.items()}
    assert {address: words for address, words in lost.items() if words} == {}


def test_the_front_page_lists_every_page_but_decisions():
    listed = {name for section in pages.sections() for name, _ in section.pages}
    below = {name for name in pages.pages() if name.startswith("decisions/")}
    assert listed == set(pages.pages()) - below - {pages.FRONT}


@pytest.mark.parametrize("name", CONCEPTS)
def test_each_help_leads_to_its_heading(name, articles):
    assert f'id="{name}"' in articles["/docs/concepts/"]


@pytest.mark.parametrize(
    "path",
    [
        "/docs/nowhere/",
        "/docs/../manage/",
        "/docs/images/nothing.png",
        "/docs/images/..%2Fqueues.md",
    ],
)
def test_what_is_no_page_is_not_found(path, client_as):
    assert client_as("admin").get(path, follow=True).status_code == 404


def test_pages_and_pictures_ask_for_the_log_in(client):
    for path in ("/docs/", "/docs/queues/", "/docs/images/map.png"):
        assert client.get(path)["Location"].startswith("/admin/login/")


def test_somebody_without_a_role_reads_nothing(client, django_user_model):
    backend = "django.contrib.auth.backends.ModelBackend"
    client.force_login(django_user_model.objects.create_user("nobody"), backend=backend)
    assert client.get("/docs/queues/").status_code == 403


def test_a_picture_is_kept_by_the_browser_alone(client_as):
    assert "private" in client_as("viewer").get("/docs/images/map.png")["Cache-Control"]


def test_the_command_lists_the_pages_and_prints_one(capsys):
    call_command("docs")
    assert re.search(r"^manifest +Manifest +Work that runs", capsys.readouterr().out, re.MULTILINE)
    call_command("docs", "manifest")
    assert capsys.readouterr().out == pages.page("manifest").text
    with pytest.raises((SystemExit, CommandError)):
        call_command("docs", "nowhere")
    assert "The docs have no page called 'nowhere'." in capsys.readouterr().err
