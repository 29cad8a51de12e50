"""What an error of a lookup means is said for every way in which name servers fail."""

import pytest

from pools.logic.dns.meanings import MEANINGS, meaning
from pools.logic.dns.reply import timed_out


def test_a_silent_name_server_is_explained():
    assert "No name server answered in time" in meaning(timed_out(3000).error)


@pytest.mark.parametrize("words", MEANINGS)
def test_an_error_is_explained_within_its_sentence(words):
    assert meaning(f'SRV lookup for "svc.example" failed: {words.lower()}') == MEANINGS[words]


def test_what_says_enough_itself_is_left_alone():
    assert meaning("no nameserver is known: there is none in /etc/resolv.conf") == ""
