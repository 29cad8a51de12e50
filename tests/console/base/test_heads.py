"""The head of a page about one object has its id, to read and copy."""

import re
from html import unescape
from urllib.parse import unquote

import pytest

from tests.console.full_site import fill, screens

pytestmark = pytest.mark.django_db
PAGES = ("instance", "allocation", "transaction", "document", "pool", "job")
COPY = re.compile(
    r'<span class="(?:mono|job-id)">(.*?)</span>(?:</h1>)?<button[^>]+data-copy="(.*?)"'
)


@pytest.mark.parametrize("name", PAGES)
def test_the_id_of_a_page_is_in_monospace_and_can_be_copied(name, client_as):
    fill()
    path = screens()[name]
    head = client_as("viewer").get(path).text.partition('class="page-head"')[2]
    shown, copied = COPY.search(head.partition("</section>")[0]).groups()
    assert shown == copied
    assert unquote(path).rstrip("/").endswith(unescape(copied).replace("/", "\x1f"))
