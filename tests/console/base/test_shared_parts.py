"""One answer serves all pages that follow a hint, and holds nothing that is one reader's own."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.http import HttpResponse

from atributo_site.console.base.shared_parts import HEADER, SharedParts
from atributo_site.console.base.shared_parts import parts as kept
from atributo_site.models import SavedView
from atributo_site.status.marks import generation
from tests.console.full_site import fill, screens

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
TIMES = re.compile(r"<time.*?</time>")
AGES = re.compile(r"\bjust now\b|\bago\b|\bin \d|(\d+(\.\d+)?(ms|[smhd])?)+|[0-9a-f]{32}")
PATIENCE = 60


@pytest.fixture
def follow():
    """Ask for a page as one that follows the newest hint."""
    generation.begin()

    def ask(client, path):
        return client.get(path, headers={HEADER: generation.name, "HX-Request": "true"})

    yield ask
    generation.begin()


def lasting(answer):
    """Return the text without tokens, moments and ages, which differ from reader to reader."""
    return AGES.sub("", TIMES.sub("", TOKEN.sub("", answer.text)))


@pytest.mark.only_on("sqlite")  # parts are kept and given out by the process
@pytest.mark.django_db
def test_no_screen_shares_what_is_one_readers_own(follow, client_as, user_as):
    fill()
    ada = client_as("admin")
    ben = client_as(None)
    ben.force_login(user_as("admin", "ben"), backend="django.contrib.auth.backends.ModelBackend")
    differing, private = [], []
    for path in screens().values():
        if "data-live" not in ada.get(path, headers={"HX-Request": "true"}).text:
            continue
        kept._parts.clear()
        mine = follow(ada, path)
        private += [] if kept._parts else [path]
        generation.advance()
        differing += [path] if lasting(mine) != lasting(follow(ben, path)) else []
    assert (differing, private) == ([], [])


@pytest.mark.django_db
def test_a_page_without_live_parts_is_never_shared(follow, client_as):
    kept._parts.clear()
    assert follow(client_as("admin"), "/system/tokens/").status_code == 200
    assert kept._parts == {}


@pytest.mark.django_db
def test_the_second_reader_gets_the_first_ones_answer_with_a_token_that_works(
    follow, client_as, django_assert_max_num_queries
):
    fill("bench")
    first, second = client_as("operator"), client_as("operator", enforce_csrf_checks=True)
    whole = second.get("/queues/bench/")
    follow(first, "/queues/bench/")
    with django_assert_max_num_queries(8):  # the session, the user and the rights
        answer = follow(second, "/queues/bench/")
    token = TOKEN.search(answer.text)[1]
    assert token not in TOKEN.search(whole.text)[1]
    paused = second.post("/queues/bench/pause", {"csrfmiddlewaretoken": token})
    assert paused.status_code == 302


@pytest.mark.django_db
def test_readers_with_other_rights_get_other_answers(follow, client_as):
    fill("bench")
    assert "csrfmiddlewaretoken" in follow(client_as("admin"), "/queues/bench/").text
    assert "csrfmiddlewaretoken" not in follow(client_as("viewer"), "/queues/bench/").text


@pytest.mark.django_db
def test_saved_views_are_not_shared(follow, client_as, user_as):
    SavedView.objects.create(user=user_as("admin"), name="my secret", screen="jobs", query="")
    assert "my secret" in client_as("admin").get("/jobs/").text
    assert "my secret" not in follow(client_as("admin"), "/jobs/").text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "0a.1", None])
def test_a_hint_of_another_process_shares_nothing(follow, client_as, name):
    headers = {"HX-Request": "true"} | ({HEADER: name} if name is not None else {})
    kept._parts.clear()
    assert client_as("admin").get("/jobs/", headers=headers).status_code == 200
    assert kept._parts == {}


def test_whoever_comes_first_renders_for_all():
    parts, began, go = SharedParts(), Event(), Event()
    renderings = []

    def render():
        renderings.append("once")
        began.set()
        assert go.wait(PATIENCE)
        return HttpResponse("part")

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(parts.part, "g.1", "key", render)
        assert began.wait(PATIENCE)
        others = [pool.submit(parts.part, "g.1", "key", render) for _ in range(7)]
        go.set()
        answers = [each.result(PATIENCE).content for each in [first, *others]]
    assert (answers, renderings) == ([b"part"] * 8, ["once"])


def test_a_part_that_fails_is_rendered_again():
    parts = SharedParts()
    with pytest.raises(ZeroDivisionError):
        parts.part("g.1", "key", lambda: 1 / 0)
    assert parts.part("g.1", "key", lambda: HttpResponse("part")).content == b"part"


def test_another_generation_is_rendered_anew():
    parts = SharedParts()
    parts.part("g.1", "key", lambda: HttpResponse("old"))
    assert parts.part("g.2", "key", lambda: HttpResponse("new")).content == b"new"
