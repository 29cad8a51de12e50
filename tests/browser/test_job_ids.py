"""Job ids in a real browser, whose numbers end at 2^53."""

import pytest

from allocation.job_ids.ids import parse

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")
ROUND_TRIP = """async () => {
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = {"Content-Type": "application/json", "X-CSRFToken": token};
  const made = await fetch("/api/v1/job-ids", {method: "POST", headers, body: "{}"});
  const text = await made.text();
  const ids = JSON.parse(text).job_ids;
  const again = JSON.parse(JSON.stringify({ids})).ids;
  const read = await (await fetch("/api/v1/job-ids/" + again[0])).json();
  return {text, id: again[0], kind: typeof again[0], read: read.job_id,
    unsafe: Number(again[0]) > Number.MAX_SAFE_INTEGER};
}"""


def test_c13_an_id_survives_the_browsers_numbers(page_as, transactional_db):
    page = page_as("operator")
    page.goto("/job-ids/")
    found = page.evaluate(ROUND_TRIP)
    assert (found["kind"], found["unsafe"]) == ("string", True)
    assert found["read"] == found["id"] and f'"{found["id"]}"' in found["text"]
    assert parse(found["id"]).exact
