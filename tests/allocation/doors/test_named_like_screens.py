"""A job may be called like a screen and still has its own page."""

import pytest

from allocation.atributo import Atributo

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("job_id", ["map", "rebalance", "-"])
def test_a_job_called_like_a_screen_has_its_page(job_id, client_as):
    ao = Atributo()
    ao.available("web-1")
    ao.allocate(job_id)
    page = client_as("viewer").get(f"/allocations/{job_id}/").text
    assert f'<h1><span class="mono">{job_id}</span></h1>' in page
