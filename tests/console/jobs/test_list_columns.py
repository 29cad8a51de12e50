"""The address of the list of jobs chooses its columns."""

import re

import pytest

from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
USUAL = ["Job", "State", "Script", "Data", "Queue", "Attempt", "When"]


@pytest.fixture
def client(client_as):
    make_job(make_queue(), pushed_by="ada", unique_key="only-one", sticky_key="cart 7")
    return client_as("viewer")


def heads(page: str) -> list[str]:
    return re.findall(r"<th[^>]*>([^<]+)</th>", page)


def test_without_a_word_the_usual_columns_are_there(client):
    assert heads(client.get("/jobs/").text) == USUAL


def test_the_address_names_others_and_their_order_is_ours(client):
    page = client.get("/jobs/?columns=unique&columns=by&columns=sticky").text
    assert heads(page) == ["Job", "Pushed by", "Key", "Unique key"]
    assert re.findall(r'data-label="[^J"]+">([^<]+?)\s*</td>', page) == [
        "ada",
        "cart 7",
        "only-one",
    ]


def test_a_column_that_does_not_exist_is_nothing(client):
    assert heads(client.get("/jobs/?columns=secrets").text) == USUAL
    assert heads(client.get("/jobs/?columns=secrets&columns=queue").text) == ["Job", "Queue"]


def test_search_tabs_and_choice_keep_one_another(client):
    page = client.get("/jobs/?columns=by&q=queue:mail&state=waiting").text
    search, choice = page.split('class="job-search"')[1].split("view-new columns")
    assert '<input type="hidden" name="columns" value="by">' in search
    assert 'name="q" value="queue:mail"' in choice and 'value="waiting"' in choice
    assert "columns=by&amp;q=queue%3Amail&amp;state=failed" in page
