"""Walk 2: a pushed job fails, is tried again, succeeds and repeats; a person sees each attempt."""

import pytest
from playwright.sync_api import expect

from queues.models import Run

pytestmark = pytest.mark.django_db(transaction=True)


def test_push_run_retry_repeat(queue, worker, rest_as, page_as, spawn, wait_until, tmp_path):
    worker("north")
    spawn("run_curator", "--name", "healer")
    answer = rest_as("operator").post(
        "/api/v1/queues/work/jobs",
        {
            "script": {"mount": "/probe", "name": "act"},
            "data": {"file": str(tmp_path / "ran"), "fail_first": 1, "why": "this once"},
            "max_failures": 1,
            "back_off": 0,
            "repeat_times": 1,
        },
        content_type="application/json",
    )
    assert answer.status_code == 201
    job = queue.get(answer.json()["id"])
    wait_until(lambda: job.status == "complete")
    runs = list(Run.objects.order_by("attempt").values_list("number", "outcome"))
    assert runs == [(1, "failed"), (1, "complete"), (2, "complete")]

    page = page_as("viewer")
    page.goto(f"/jobs/{job.id}/")
    for number in (1, 2, 3):
        expect(page.get_by_text(f"Attempt {number}", exact=True)).to_be_visible()
    expect(page.get_by_text("told to fail this once").first).to_be_visible()
