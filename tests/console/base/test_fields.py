"""Whatever is typed as a number in an address or form is accepted or refused in words."""

import pytest
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.web.pagination import LARGEST, whole
from pools import configuration
from tests.factories.jobs import make_queue, make_script

MANY_DIGITS = "9" * 5000  # more than Python reads as a number


@given(st.one_of(st.text(max_size=30), st.integers(0, 10**25).map(str)))
def test_a_whole_number_is_read_or_refused(text):
    found = whole(text)
    assert found is None or (0 <= found <= LARGEST and int(text) == found)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/schedules/", "/transactions/", "/transactions/history/", "/jobs/", "/search/"]
)
def test_a_key_of_many_digits_is_no_key(path, client_as):
    asked = dict.fromkeys(("after", "before", "upto", "q"), MANY_DIGITS)
    assert client_as("viewer").get(path, asked).status_code == 200


@pytest.mark.django_db
def test_a_refused_form_does_not_forget_which_version_it_was_made_of(client_as):
    configuration.watch("shop", domain="shop.example")
    client, page = client_as("admin"), "/pools/watched/shop/change/"
    read = int(client.get(page).context["epoch"])
    configuration.change("shop", grace_seconds=7)
    form = {"domain": "", "epoch": str(read)}
    assert f'name="epoch" value="{read}"' in client.post(page, form).text
    assert client.post(page, {"domain": "", "epoch": MANY_DIGITS}).status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize("typed", ["[" * 5000, "x", "1e", "NaN"])
def test_what_is_no_number_is_refused_beside_its_field(typed, client_as):
    make_script()
    make_queue()
    form = {"data-to": "ada", "data-copies": typed, "queue": "mail"}
    page = client_as("operator").post("/services/mailer/-/scripts/send-mail/push", form)
    assert page.status_code == 400 and "field-error" in page.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "typed", [MANY_DIGITS, "[" * 5000, '{"a": "\\ud800"}', '{"a": NaN}', '{"a": 1, "a": 2}', "{"]
)
def test_json_that_cannot_be_kept_is_shown_again_with_the_reason(typed, client_as):
    form = {"name": "shop", "domain": "shop.example", "recovery": typed}
    page = client_as("admin").post("/pools/new/", form)
    assert page.status_code == 400 and "This is not valid JSON: " in page.text
    assert escape(typed) in page.text
