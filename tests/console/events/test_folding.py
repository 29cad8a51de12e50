"""The timeline tells sentences, folds before it pages, shows failures and keeps its filter."""

import re
from datetime import timedelta
from html import unescape

import pytest

from atributo_site.config.places import BASE_DIR
from atributo_site.console.events.sentences import SENTENCES, sentence
from atributo_site.console.events.severity import SEVERITY_OF
from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from pools.models import BackendChange
from tests.console.page_elements import INJECTION, Elements
from tests.factories.jobs import make_job, make_queue


def kinds_on(response):
    return re.findall(r'class="kind"[^>]*>([^<]+)<', response.text)


@pytest.mark.parametrize(
    ("kind", "subject", "facts", "expected"),
    [
        ("queue.paused", "queue:mail", {}, "Queue mail was paused."),
        (
            "instance.removed",
            "instance:ada",
            {"reason": "old", "jobs_dropped": 3},
            "ada was removed. Reason: old. Keys dropped: 3.",
        ),
        ("allocation.ended", "allocation:7", {"instance_id": "ada"}, "Key 7 left ada."),
        ("allocation.ended", "allocation:7", {}, "Allocation 7: ended."),
        ("thing.turned_round", "thing:{name}", {"x": 1}, "Thing {name}: turned round."),
        ("demo.made", "site:demo", {"chapters": ["a"]}, "Demo content was made."),
        ("odd", "alone", {}, "alone: odd."),
    ],
)
def test_an_event_is_a_sentence(kind, subject, facts, expected):
    assert sentence(kind, subject, facts) == expected


def test_no_fact_can_change_the_sentence():
    facts = {"error": "{name.__class__} {0}", "script": "{x}"}
    told = sentence("script.failed", "service:/mail", facts)
    assert told == "Script {x} of /mail failed: {name.__class__} {0}"


@pytest.mark.parametrize(
    ("kind", "subject", "facts", "expected"),
    [
        ("allocations.made", "allocations:1", {"count": 1}, "1 key was allocated."),
        ("allocations.made", "allocations:1", {"count": 11}, "11 keys were allocated."),
        ("jobs.abort", "jobs:1", {"count": 1}, "1 job was aborted."),
        ("instance.drain_stuck", "instance:ada", {"left": 1}, "1 key of ada has nowhere to go."),
        ("jobs.retry", "jobs:retry", {"count": 3}, "3 jobs will run again."),
    ],
)
def test_a_sentence_agrees_with_its_number(kind, subject, facts, expected):
    assert sentence(kind, subject, facts) == expected


RECORDED = re.compile(
    r"""\b(?:record|self\._tell)\(\s*"([a-z_]+\.[a-z_]+)"|count_fenced\(\s*"([a-z_]+)\""""
)


def test_whatever_is_recorded_has_a_sentence():
    code = "\n".join(
        path.read_text()
        for room in ("allocation", "queues", "pools", "atributo_site")
        for path in (BASE_DIR / room).rglob("*.py")
    )
    kinds = {kind or f"{fenced}.refused" for kind, fenced in RECORDED.findall(code)}
    assert len(kinds) > 80
    assert sorted(kinds - SENTENCES.keys()) == []
    of_dns = [kind for kind in SENTENCES if kind.startswith(("pool.", "backend."))]
    assert set(BackendChange.Kind.values) <= {kind.partition(".")[2] for kind in of_dns}


def test_sentences_and_severities_are_of_kinds():
    every = [*SENTENCES, *SEVERITY_OF]
    assert [kind for kind in every if not re.fullmatch(r"[a-z_]+\.[a-z_]+", kind)] == []


def test_facts_are_json_on_demand(client_as, db):
    record("queue.paused", "queue:mail", reason="a storm", odd={"deep": 1})
    page = client_as("viewer").get("/events/?subject=queue:mail").text
    assert "Queue mail was paused. Reason: a storm." in page
    assert "<summary" in page and "&quot;deep&quot;: 1" in page


def test_what_is_folded_leaves_room_on_the_page(client_as, db):
    for number in range(60):
        record("thing.happened", f"thing:{number}")
        for _ in range(3):
            record("curator.repaired", "curator:one", count=1, repair="slots")
    Event.objects.exclude(kind__in=["thing.happened", "curator.repaired"]).delete()
    client = client_as("viewer")
    first = client.get("/events/")
    assert len(kinds_on(first)) == 50
    older = unescape(re.search(r'rel="next" href="([^"]+)"', first.text)[1])
    second = client.get(f"/events/{older}")
    assert len(kinds_on(second)) == 12  # the rest of the 60, and the repairs once more
    newer = unescape(re.search(r'rel="prev" href="([^"]+)"', second.text)[1])
    back = kinds_on(client.get(f"/events/{newer}"))
    assert set(back) == set(kinds_on(first)) and len(back) == 50


def test_a_click_on_an_event_keeps_the_filter(client_as, db):
    record("queue.paused", "queue:mail")
    page = client_as("viewer").get("/events/?since=2h&subject=queue:mail").text
    links = re.findall(r'href="([^"]*kind=queue.paused[^"]*)"', page)
    assert links and all("since=2h" in link and "subject=queue" in link for link in links)


@pytest.mark.parametrize(
    ("severity", "found"),
    [
        ("error", ["run.lost"]),
        ("warning", ["user.login_failed"]),
        ("notice", ["queue.paused"]),
        ("", ["queue.paused", "user.login_failed", "run.lost"]),
    ],
)
def test_the_timeline_is_filtered_by_severity(severity, found, client_as, db):
    client = client_as("viewer")
    Event.objects.all().delete()
    record("run.lost", "job:7")
    record("user.login_failed", "user:eve")
    record("queue.paused", "queue:mail")
    assert kinds_on(client.get("/events/", {"severity": severity})) == found
    narrower = client.get("/events/", {"severity": severity, "subject": "job:7"})
    assert kinds_on(narrower) == [kind for kind in found if kind == "run.lost"]


def test_a_severity_that_is_none_is_said(client_as, db):
    answer = client_as("viewer").get("/events/?severity=awful")
    assert answer.status_code == 400 and "<strong>Severity:</strong>" in answer.text


@pytest.fixture
def failed(db):
    queue = make_queue()
    ago = database_now() - timedelta(minutes=5)
    for seconds in range(3):
        make_job(queue, "failed", error="Odd: a teapot", ended_at=ago + timedelta(seconds=seconds))
    make_job(queue, "failed", error=INJECTION, ended_at=ago - timedelta(days=2))


def test_failed_jobs_are_one_row_that_leads_to_exactly_these(failed, client_as):
    client = client_as("viewer")
    page = client.get("/events/?since=1h")
    link = re.search(r'<a href="([^"]+)">3 jobs failed within 2s: Odd: a teapot</a>', page.text)
    listed = client.get(unescape(link[1])).text
    assert len(set(re.findall(r'href="/jobs/(\d+)/"', listed))) == 3


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("severity=error", 2),
        ("", 2),
        ("since=1h", 1),
        ("until=1h", 1),
        ("severity=warning", 0),
        ("kind=run.lost", 0),
        ("subject=queue:mail", 0),
        ("by=people", 0),
    ],
)
def test_failures_are_shown_where_the_filter_lets_them(failed, query, count, client_as):
    page = client_as("viewer").get(f"/events/?{query}").text
    assert len(re.findall(r">\d jobs? failed", page)) == count
    assert "injected" not in Elements(page).ids
