"""The sentences of the screens: plain English, one word for one thing."""

import re

import pytest

from tests.sentences import of_code, of_template, sentences

GONE = [
    "called so",
    "may at most",
    "lines are fine",
    "The id tells",
    "forgiven",
    "anew",
    "Instances come",
    "these leave",
    "any more",
    "for ever",
    "so many",
    "looked at",
    "mended",
    "how to mend",
    "no longer there",
    "is no span",
    "is no moment",
    "is no rule",
    "is no number",
    "is no day",
    "stands in the events",
    "sticky key",
    "look-up",
]
# a job id is the number that this site makes; what is allocated to an instance is a key
OF_JOB_IDS = ("job_id", "allocations/list.html", "health.py", "bulk.py", "environment.py")
OF_JOB_IDS += ("status/", "id_number", "invariants.py", "queues/jobs/handles.py")


@pytest.fixture(scope="module")
def said():
    return list(sentences())


@pytest.mark.parametrize("phrase", GONE)
def test_no_screen_says_what_nobody_would_say(phrase, said):
    word = re.compile(rf"\b{re.escape(phrase)}\b", re.IGNORECASE)
    assert [each for each in said if word.search(each[1])] == []


def test_no_sentence_has_guillemets_or_curly_quotes(said):
    assert [each for each in said if re.search("[«»‹„“”]", each[1])] == []


def test_what_is_allocated_is_a_key(said):
    names = [name for name, text in said if re.search(r"\bjob ids?\b", text, re.IGNORECASE)]
    assert [name for name in names if not any(part in name for part in OF_JOB_IDS)] == []


def test_no_path_of_links_ends_in_a_separator(said):
    assert [each for each in said if each[1].endswith("›")] == []


def test_the_list_has_the_texts_of_templates_with_their_tags_taken_off():
    page = '<p title="Two words">Kept for <b>{{ n }}</b> day{{ n|pluralize }}.</p>'
    assert list(of_template(page)) == ["Two words", "Kept for … day…."]
    page = '{% include "empty.html" with title="No jobs yet" %}<th>Key</th>'
    assert list(of_template(page)) == ["No jobs yet", "Key"]


def test_the_list_has_the_texts_of_code_without_its_docstrings():
    code = 'def f(n):\n    """Say it."""\n    return f"There are {n} of them."'
    assert list(of_code(code)) == ["There are … of them."]
