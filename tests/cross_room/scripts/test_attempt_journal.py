"""The job's page shows what each attempt wrote, and what became of it."""

from atributo_site.core.fencing import count_fenced
from atributo_site.core.models.clock import database_now
from atributo_site.status.metrics import exposition
from atributo_site.status.snapshot import snapshot


def test_the_page_of_a_job_shows_the_journal_of_each_attempt(bank, hands, client_as):
    failed = bank.push(order=bank.order(amount=5000), max_failures=0)
    done = bank.push()
    hands.drain()
    page = client_as("viewer").get(f"/jobs/{failed.id}/").text
    assert "Changed and rolled back: 2 lines" in page
    assert "-4000" in page and "restored" in page
    page = client_as("viewer").get(f"/jobs/{done.id}/").text
    assert "Changed: 2 lines" in page and "990" in page


def test_a_job_without_a_transaction_shows_no_journal(queue, act, hands, client_as):
    job = queue.get(queue.push(act, [1]))
    hands.drain()
    assert "attempt-journal" not in client_as("viewer").get(f"/jobs/{job.id}/").text


def test_late_ones_are_shown_on_the_system_screen_and_in_the_metrics(bank, client_as):
    count_fenced("attempt", "job:1", times=3)
    page = client_as("viewer").get("/system/processes/").text
    assert "an attempt that was lost or aborted" in page
    text = exposition(snapshot(database_now())).decode()
    assert 'atributo_fenced_total{kind="attempt"} 3.0' in text
