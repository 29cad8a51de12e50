"""After a bulk action the list shows these jobs where they are; groups are named by their error."""

import pytest

from queues.models import QueuedJob
from tests.factories.jobs import make_job, make_queue, make_script

pytestmark = pytest.mark.django_db
BULK = "/jobs/bulk/"


@pytest.fixture
def failed(db):
    queue = make_queue()
    make_job(queue, "failed", error="Other: thing")
    return [make_job(queue, "failed", error="Odd: a teapot") for _ in range(3)]


def asked(jobs, action="retry"):
    given = {"scope": "all", "state": "failed", "fingerprint": jobs[0].fingerprint}
    return {"action": action, "sure": "yes", **given}


def test_a_retry_leads_to_exactly_its_jobs_wherever_they_are(failed, client_as):
    client = client_as("operator")
    answer = client.post(BULK, asked(failed), follow=True)
    assert "3 jobs of 3 changed" in answer.text and "No jobs match" not in answer.text
    assert all(f"/jobs/{job.pk}/" in answer.text for job in failed)
    address = answer.redirect_chain[-1][0]
    assert client.get(f"{address}&state=failed").text.count('class="job-id"') == 0


def test_all_of_that_list_are_these_jobs_alone(failed, client_as):
    client = client_as("operator")
    ids = ",".join(str(job.pk) for job in failed[:2])
    page = client.get(BULK, {"action": "abort", "scope": "all", "ids": ids}).text
    assert "Abort 2 jobs" in page and f"queued_jobs abort {ids.replace(',', ' ')}" in page
    client.post(BULK, {"action": "delete", "scope": "all", "ids": ids, "sure": "yes"})
    assert QueuedJob.objects.visible().count() == 2


def test_ids_that_are_none_filter_nothing(failed, client_as):
    assert client_as("viewer").get("/jobs/?ids=x,,-1").text.count('class="job-id"') == 4


def test_a_group_is_named_by_its_error(failed, client_as):
    client = client_as("operator")
    address = {"state": "failed", "fingerprint": failed[0].fingerprint}
    for page in (
        client.get("/jobs/", address).text,
        client.get(BULK, {"action": "retry", "scope": "all", **address}).text,
    ):
        assert "Odd: a teapot" in page
        assert f">{failed[0].fingerprint}<" not in page and f"error {address}" not in page
    gone = client.get("/jobs/", {"fingerprint": "0" * 16}).text
    assert "of jobs that are gone" in gone


def test_the_last_runs_of_a_script_have_run(client_as):
    make_script()
    queue = make_queue()
    waits, ran = make_job(queue), make_job(queue, "complete")
    page = client_as("viewer").get("/services/mailer/-/scripts/send-mail/").text
    assert f"/jobs/{ran.pk}/" in page and f"/jobs/{waits.pk}/" not in page
