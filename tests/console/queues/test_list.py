"""Queues: the list, one queue, pause, resume, scale; in the snapshot, metrics, attention."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

import queues
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from atributo_site.status.metrics import exposition
from atributo_site.status.snapshot import attention, snapshot
from queues.models import MinuteCount, Queue, Slot
from queues.queries.counters import within_ms
from tests.console.page_elements import INJECTION, Elements, ids_on
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db


def count_minutes(queue, **counts):
    minute = database_now().replace(second=0, microsecond=0)
    MinuteCount.objects.create(queue=queue, minute=minute, **counts)


def test_a_line_tells_what_runs_waits_and_fails(client_as):
    queue = make_queue()
    Slot.objects.filter(queue=queue, number=0).update(
        holder="a", leased_until=database_now() + timedelta(minutes=1)
    )
    make_job(queue, due_at=database_now() - timedelta(minutes=5))
    make_job(queue, due_at=database_now() + timedelta(minutes=5))
    count_minutes(queue, complete=7, failed=3, started=10)
    page = client_as("viewer").get("/queues/").text
    assert "1 of 2" in page
    assert "5m" in page
    assert "7 complete" in page
    assert "7 complete, 3 failed, minute by minute" in page


def test_the_queue_page_shows_times_from_the_counters(client_as):
    queue = make_queue()
    count_minutes(queue, started=10, complete=10, wait_1=6, wait_4=4, run_3=10)
    page = client_as("viewer").get("/queues/mail/").text
    assert "≤ 100ms" in page
    assert "≤ 10s" in page
    assert "≤ 1m<" in page


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("operator", 302), ("admin", 302)])
def test_pausing_needs_an_operator(role, status, client_as):
    make_queue()
    assert client_as(role).post("/queues/mail/pause").status_code == status
    assert Queue.objects.get(name="mail").paused == (status == 302)


def test_the_queue_page_leads_to_questions_about_all_of_its_jobs(client_as):
    queue = make_queue("mail")
    waiting, failed = make_job(queue), make_job(queue, "failed", error="E: 1")
    count_minutes(queue, failed=1)
    client = client_as("operator")
    links = re.findall(r'href="(/jobs/bulk/[^"]+)"', client.get("/queues/mail/").text)
    empty, retry = (client.get(unescape(link)).text for link in links)
    assert "Delete 1 job?" in empty and str(waiting.pk) in empty
    assert "Retry 1 job?" in retry and str(failed.pk) in retry
    assert "/jobs/bulk/" not in client_as("viewer").get("/queues/mail/").text


def test_nothing_failed_offers_no_retry(client_as):
    queue = make_queue("mail")
    make_job(make_queue("news"), "failed", error="E: 1")
    count_minutes(queue, failed=4, retried=4)
    page = client_as("operator").get("/queues/mail/").text
    assert "action=retry" not in page and "state=failed" not in page
    assert "4 attempts failed" in page
    make_job(queue, "failed", error="E: 1", ended_at=database_now() - timedelta(hours=2))
    page = client_as("operator").get("/queues/mail/").text
    assert "Retry all …" in page
    assert "state=failed&amp;since=1h" not in page


@pytest.mark.parametrize("path", ["/queues/", "/queues/mail/", "/"])
def test_failed_of_the_last_hour_opens_those_of_the_last_hour(path, client_as):
    queue = make_queue("mail")
    count_minutes(queue, failed=1)
    now = make_job(queue, "failed", error="E: 1")
    make_job(queue, "failed", error="E: 1", ended_at=database_now() - timedelta(hours=2))
    make_job(make_queue("news"), "failed", error="E: 1")
    client = client_as("viewer")
    link = re.search(
        r'href="(/jobs/\?state=failed&amp;since=1h&amp;q=[^"]+)"', client.get(path).text
    )
    assert ids_on(client.get(unescape(link[1]))) == {now.pk}


@pytest.mark.parametrize("path", ["/queues/", "/"])
def test_attempts_that_were_retried_lead_to_no_list(path, client_as):
    count_minutes(make_queue("mail"), failed=4, retried=4)
    page = client_as("viewer").get(path).text
    assert "4 attempts failed" in page
    assert "state=failed" not in page


def test_pause_and_resume_leave_events(client_as):
    make_queue()
    client = client_as("operator")
    client.post("/queues/mail/pause")
    assert "Paused by operator" in client.get("/queues/mail/").text
    client.post("/queues/mail/resume", {"next": "queues"})
    kinds = Event.objects.filter(subject="queue:mail").values_list("kind", "actor")
    assert set(kinds) >= {("queue.paused", "operator"), ("queue.resumed", "operator")}


def test_pausing_all_asks_first_and_names_how_many(client_as):
    make_queue("mail"), make_queue("calm")
    queues.pause("calm")
    client = client_as("operator")
    page = client.get("/queues/pause").text
    assert "<h1>Pause 2 queues?</h1>" in page  # default is the other one
    assert "calm" not in page
    assert Queue.objects.active().count() == 2
    assert "2 queues are paused" in client.post("/queues/pause", follow=True).text
    assert "by operator" in client.get("/queues/resume").text


def test_every_queue_that_changes_has_one_event(client_as):
    make_queue("mail"), make_queue("calm")
    queues.pause("calm")
    client_as("operator").post("/queues/pause")
    client_as("operator").post("/queues/pause")
    paused = Event.objects.filter(kind="queue.paused").values_list("subject", flat=True)
    assert sorted(paused) == ["queue:calm", "queue:default", "queue:mail"]


def test_nothing_is_asked_where_nothing_would_change(client_as):
    make_queue()
    answer = client_as("operator").get("/queues/resume", follow=True)
    assert answer.redirect_chain == [("/queues/", 302)]
    assert "Resume all" not in answer.text


def test_scaling_needs_an_administrator_and_a_number(client_as):
    make_queue()
    assert client_as("operator").post("/queues/mail/scale", {"max_workers": 9}).status_code == 403
    client = client_as("admin")
    client.post("/queues/mail/scale", {"max_workers": 9})
    client.post("/queues/mail/scale", {"max_workers": "many"})
    client.post("/queues/mail/scale", {"max_workers": 0})
    assert Queue.objects.get(name="mail").max_workers == 9


def test_a_step_needs_an_administrator_and_a_direction(client_as):
    make_queue()
    assert client_as("operator").post("/queues/mail/step", {"by": 1}).status_code == 403
    client = client_as("admin")
    assert "up to 3 jobs at once" in client.post("/queues/mail/step", {"by": 1}, follow=True).text
    for wrong in ({}, {"by": "2"}, {"by": "0"}, {"by": "many"}):
        assert (
            "The step must be 1 or -1" in client.post("/queues/mail/step", wrong, follow=True).text
        )
    assert Queue.objects.get(name="mail").max_workers == 3
    assert client.post("/queues/nowhere/step", {"by": 1}).status_code == 404


def test_whoever_steps_below_one_is_told(client_as):
    make_queue()
    client = client_as("admin")
    said = [client.post("/queues/mail/step", {"by": -1}, follow=True).text for _ in range(2)]
    assert "mail runs one job at a time." in said[0]
    assert "mail already runs one job at a time. Pause it to stop it." in said[1]


def test_the_target_age_is_set_and_forgotten_on_the_page(client_as):
    make_queue()
    path, wish = "/queues/mail/target-age", {"target_age_seconds": "1m30s"}
    assert client_as("operator").post(path, wish).status_code == 403
    client = client_as("admin")
    assert "mail is late after 1m30s." in client.post(path, wish, follow=True).text
    assert "target 1m30s" in client.get("/queues/").text
    assert 'name="target_age_seconds" maxlength="40"' in client.get("/queues/mail/").text
    assert 'value="1m30s"' in client.get("/queues/mail/").text
    for wrong in ("0", "-1", "soon", "1e9", "99999999999", "1500ms", "1y"):
        answer = client.post(path, {"target_age_seconds": wrong}, follow=True)
        assert "must be a duration such as 30s or 5m, at most 365d, or empty" in answer.text
    assert Queue.objects.get(name="mail").target_age_seconds == 90
    client.post(path, {"target_age_seconds": ""})
    assert Queue.objects.get(name="mail").target_age_seconds is None


def test_a_bare_number_of_the_target_age_is_seconds(client_as):
    make_queue()
    client_as("admin").post("/queues/mail/target-age", {"target_age_seconds": "90"})
    assert Queue.objects.get(name="mail").target_age_seconds == 90


def test_the_record_of_starts_is_set_on_the_page(client_as):
    make_queue()
    path, wish = "/queues/mail/record-start", {"record_start": "yes"}
    assert client_as("operator").post(path, wish).status_code == 403
    client = client_as("admin")
    said = "Each start is recorded before the job begins."
    assert said in client.post(path, wish, follow=True).text
    assert "Choose yes or no." in client.post(path, {"record_start": "x"}, follow=True).text
    assert Queue.objects.get(name="mail").record_start
    client.post(path, {"record_start": "no"})
    assert not Queue.objects.get(name="mail").record_start


def test_the_retention_is_set_on_the_page(client_as):
    make_queue()
    path = "/queues/mail/retention"
    assert client_as("operator").post(path, {"retention_days": 7}).status_code == 403
    assert path not in client_as("operator").get("/queues/mail/").text
    client = client_as("admin")
    answer = client.post(path, {"retention_days": 7}, follow=True).text
    assert "mail keeps finished jobs for 7 days." in answer
    assert 'name="retention_days" type="number" min="1" max="36500" required value="7"' in answer
    for wrong in ("", "0", "-1", "1.5", "soon", "36501"):
        answer = client.post(path, {"retention_days": wrong}, follow=True)
        assert "The retention must be a whole number of days from 1 to 36500." in answer.text
    assert Queue.objects.get(name="mail").retention_days == 7
    (event,) = Event.objects.filter(kind="queue.changed", subject="queue:mail")
    assert (event.actor, event.facts) == ("admin", {"retention_days": 7})


def test_a_queue_is_made_with_any_name(client_as):
    client = client_as("admin")
    answer = client.post("/queues/", {"name": "a/b c", "max_workers": 3})
    assert answer.headers["Location"] == "/queues/a%1Fb%20c/"
    assert client.get(answer.headers["Location"]).status_code == 200
    assert client.post("/queues/", {"name": "", "max_workers": 3}).status_code == 400


def test_making_one_that_exists_is_refused_and_changes_nothing(client_as):
    make_queue()
    answer = client_as("admin").post("/queues/", {"name": "mail", "max_workers": 7})
    assert answer.status_code == 400
    assert "Name: A queue named mail already exists." in answer.text
    assert Queue.objects.get(name="mail").max_workers == 2


def test_a_missing_queue_is_not_found(client_as):
    assert client_as("admin").get("/queues/nowhere/").status_code == 404
    assert client_as("admin").post("/queues/nowhere/pause").status_code == 404


def test_a_name_is_never_taken_for_html(client_as):
    make_queue(INJECTION)
    page = client_as("admin").get("/queues/")
    for text in (page.text, client_as("admin").get("/").text):
        found = Elements(text)
        assert "injected" not in found.ids
        assert found.handlers == []


@pytest.mark.parametrize("path", ["/queues/", "/queues/mail/", "/"])
def test_more_rows_need_no_more_queries(path, client_as, django_assert_num_queries):
    queue = make_queue()
    make_job(queue)
    count_minutes(queue, complete=1)
    client = client_as("viewer")
    client.get(path)
    with CaptureQueriesContext(connection) as few:
        client.get(path)
    for number in range(12):
        other = make_queue(f"other-{number}")
        make_job(other)
        make_job(queue, "failed", error="no")
        count_minutes(other, complete=1)
    with django_assert_num_queries(len(few)):
        client.get(path)


def test_the_snapshot_speaks_of_queues():
    queue = make_queue()
    make_job(queue, due_at=database_now() - timedelta(seconds=90))
    found = next(q for q in snapshot(database_now())["queues"]["queues"] if q["name"] == "mail")
    assert (found["waiting"], found["delayed"], found["running"]) == (1, 0, 0)
    assert found["oldest_seconds"] == pytest.approx(90, abs=30)


def test_a_queue_that_nobody_works_at_needs_attention():
    make_job(make_queue(), due_at=database_now() - timedelta(seconds=90))
    titles = [item["title"] for item in snapshot(database_now())["attention"]]
    assert "No worker serves queue mail" in titles
    Queue.objects.update(paused_at=database_now())
    titles = [item["title"] for item in snapshot(database_now())["attention"]]
    assert "No worker serves queue mail" not in titles


def test_an_empty_list_of_workers_says_whether_any_is_there(client_as):
    make_queue()
    client = client_as("viewer")
    assert "manage.py worker<" in client.get("/queues/mail/").text
    Lease.objects.acquire("worker/one", "one", 3600)
    page = client.get("/queues/mail/").text
    assert "1 worker will take the next one" in page and "manage.py worker<" not in page
    Queue.objects.update(paused_at=database_now())
    assert "no new jobs start." in client.get("/queues/mail/").text


def test_a_failing_group_needs_attention():
    queue = make_queue()
    for number in range(6):
        make_job(queue, "failed", error=f"ValueError: number {number}")
    found = [item for item in attention(snapshot(database_now())) if "same error" in item["title"]]
    assert [item["title"] for item in found] == [
        "6 jobs failed with the same error in the last hour"
    ]


def test_metrics_have_depth_age_and_failures():
    queue = make_queue()
    make_job(queue)
    count_minutes(queue, failed=4)
    text = exposition(snapshot(database_now())).decode()
    assert 'atributo_queue_waiting{queue="mail"} 1.0' in text
    assert 'atributo_queue_failed_last_hour{queue="mail"} 4.0' in text
    assert 'atributo_queue_oldest_seconds{queue="mail"}' in text
    assert 'atributo_queue_target_age_seconds{queue="mail"} 30.0' in text


def test_shares_come_from_the_buckets():
    counts = {f"wait_{number}": count for number, count in enumerate([50, 45, 4, 0, 0, 1])}
    assert [within_ms(counts, "wait", share) for share in (0.5, 0.95, 0.99)] == [10, 100, 1000]
    assert within_ms(counts, "wait", 1.0) is None
