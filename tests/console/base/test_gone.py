"""A confirmation page about an object that is gone leads to the list."""

import pytest

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("asked", "leads_to"),
    [
        ("/jobs/26111603463755600/delete", "/jobs/"),
        ("/jobs/26111603463755600/abort", "/jobs/"),
        ("/queues/nowhere/delete", "/queues/"),
        ("/instances/nowhere/remove", "/instances/"),
        ("/services/nowhere/-/uninstall", "/services/"),
        ("/transactions/locks/1/release", "/transactions/locks/"),
        ("/transactions/curators/hand_over", "/transactions/curators/"),
    ],
)
def test_a_question_about_what_is_gone_leads_to_the_list(asked, leads_to, client_as):
    back = client_as("admin").get(asked, follow=True)
    assert back.redirect_chain == [(leads_to, 302)]
    assert 'class="messages"' in back.text
