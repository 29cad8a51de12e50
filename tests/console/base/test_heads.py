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


def test_the_id_of_a_page_is_in_monospace_and_can_be_copied(client_as):
    fill()
    client = client_as("viewer")
    for path in map(screens().get, PAGES):
        head = client.get(path).text.partition('class="page-head"')[2]
        shown, copied = COPY.search(head.partition("</section>")[0]).groups()
        assert shown == copied
        assert unquote(path).rstrip("/").endswith(unescape(copied).replace("/", "\x1f"))
