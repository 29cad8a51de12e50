"""Each concept has a sentence of help behind a "?", which opens without a script."""

import re

import pytest

from atributo_site.template_tags.concepts import CONCEPTS, concept
from tests.console.full_site import fill

PAGES = {
    "instance": "/instances/",
    "key": "/allocations/",
    "curator": "/transactions/curators/",
    "mount": "/services/",
    "lease": "/system/processes/",
}


@pytest.mark.parametrize(("name", "path"), PAGES.items())
def test_a_page_explains_the_concept_that_it_is_about(name, path, client_as, db):
    fill()
    page = client_as("viewer").get(path).text
    assert page.count(CONCEPTS[name]) == 1 and '<details class="concept">' in page


@pytest.mark.parametrize("name", CONCEPTS)
def test_the_help_is_one_sentence_about_the_concept(name):
    assert re.fullmatch(rf"(An?|The) {name} is [^.]+\.", CONCEPTS[name])


def test_beside_the_word_itself_only_the_mark_is_seen():
    assert '<span class="hidden-label">What is an epoch?</span>' in concept("epoch", bare=True)
    assert "<span>What is a key?</span>" in concept("key")
