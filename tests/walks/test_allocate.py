"""Walk 1: a program allocates a job; a person asks where it runs, and why there."""

import pytest
from playwright.sync_api import expect

from allocation.atributo import Atributo

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_job_is_placed_once_and_its_place_is_explained(rest_as, page_as):
    ao = Atributo()
    for name in ("web-1", "web-2"):
        ao.available(name)
    rest = rest_as("operator")
    first = rest.put("/api/v1/allocations/job0")
    again = rest.put("/api/v1/allocations/job0")
    assert (first.status_code, first.json()["persisted"]) == (201, True)
    assert (again.status_code, again.json()["persisted"]) == (200, False)
    where = first.json()["instance_id"]
    assert again.json()["instance_id"] == where

    ao.unavailable(where)
    assert rest.put("/api/v1/allocations/job0").json()["instance_id"] == where  # it sticks
    other = rest.put("/api/v1/allocations/job1").json()["instance_id"]
    assert {where, other} == {"web-1", "web-2"}

    page = page_as("viewer")
    page.goto("/allocations/job0/")
    expect(page.get_by_role("heading", name="Why here")).to_be_visible()
    expect(page.get_by_role("link", name=where, exact=True).first).to_be_visible()
