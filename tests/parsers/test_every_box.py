"""Ten thousand awkward characters in every text box, parameter, member of a body and header."""

import cProfile
from dataclasses import replace

import pytest
from django.conf import settings as django_settings

from tests.console.full_site import fill
from tests.parsers.boxes import every_box
from tests.parsers.long_texts import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.only_on("sqlite")]
NAME = "bench"
MOST_CALLS = 500_000  # a page takes a tenth of them; what grows with the square of a text, far more


@pytest.fixture
def everything(client_as, rest_as, settings, monkeypatch):
    """Every box with a client that may write into it."""
    settings.ATRIBUTO = replace(django_settings.ATRIBUTO, requests_per_minute=10**9)
    fill(NAME)
    return every_box(NAME, client_as("admin"), rest_as("admin"), monkeypatch)


def test_every_box_takes_or_refuses_a_long_text(everything):
    sent = {str(box): said(client, box) for client, box in everything}
    assert {box: what for box, what in sent.items() if what} == {}
    assert len(sent) > 300


def said(client, box):
    """What is wrong with the answer, if anything is."""
    answers = []
    calls = calls_of(lambda: answers.append(box.send(client, text_of("dots"))))
    if answers[0].status_code >= 500:
        return f"status {answers[0].status_code}"
    return f"{calls} calls" if calls > MOST_CALLS else ""


def calls_of(call):
    """Count the calls of functions, those in C too."""
    profile = cProfile.Profile()
    profile.runcall(call)
    return sum(entry.callcount for entry in profile.getstats())
