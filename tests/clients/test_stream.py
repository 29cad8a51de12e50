"""The event stream goes on where it was, also after the server was killed."""

import signal
from contextlib import closing

import pytest

from atributo_client.errors import AuthenticationFailed, StreamEnded, Unreachable
from atributo_client.retries import Retries
from atributo_client.shells import Settings
from atributo_client.stream import Following
from atributo_site.core.event_cursor import newest_cursor
from atributo_site.core.events import record

OFTEN = Retries(longest_pause_seconds=0.2)
SETTINGS = Settings("http://localhost", "t", retries=OFTEN)


def start():
    """Return the place from which everything that follows is read."""
    return str(newest_cursor())


def test_events_of_a_topic_come(web, token_of, connect):
    client = connect(web(), token_of("viewer"))
    with closing(client.events("a", last_event_id=start())) as stream:
        record("b.made", "b:1")
        record("a.made", "a:1", colour="red")
        message = next(stream)
    assert (message.kind, message.data["subject"]) == ("event", "a:1")
    assert message.data["facts"] == {"colour": "red"}


def test_a_killed_server_costs_no_event(web_process, token_of, connect):
    process = web_process()
    client = connect(process.url, token_of("viewer"), retries=OFTEN)
    with closing(client.events("a", last_event_id=start())) as stream:
        record("a.made", "a:1")
        subjects = [next(stream).data["subject"]]
        process.send_signal(signal.SIGKILL)
        process.wait()
        record("a.made", "a:2")
        web_process()
        record("a.made", "a:3")
        subjects += [next(stream).data["subject"] for _ in range(2)]
    assert subjects == ["a:1", "a:2", "a:3"]


def test_a_wrong_token_ends_it_at_once(web, connect):
    with pytest.raises(AuthenticationFailed):
        next(connect(web(), "wrong").events())


def test_it_gives_up_after_so_many_failures(free_port, connect):
    client = connect(f"http://127.0.0.1:{free_port}", "t", retries=OFTEN)
    with pytest.raises(Unreachable):
        next(client.events(give_up_after=2))


def fed(following, text):
    return [message for line in text.split("\n") if (message := following.take(line))]


def test_lines_become_messages_and_the_place_is_kept():
    following = Following(SETTINGS, ("a", "b:1"), True, "")
    text = 'retry: 2000\nid: 5\n\n: beat\n\ndata: {"id": 1}\n\nevent: hint\nid: 7\ndata: {}\n\n'
    assert [each.kind for each in fed(following, text)] == ["event", "hint"]
    assert following.headers() == {"Last-Event-ID": "7"}
    assert following.params == {"topics": "a,b:1", "hints": "yes"}


def test_an_event_that_comes_twice_is_given_once():
    following = Following(SETTINGS, (), False, "")
    text = 'data: {"id": 1}\n\nid: 5\ndata: {"id": 2}\n\n'
    assert [each.data["id"] for each in fed(following, text * 2)] == [1, 2]


def test_half_a_message_before_a_cut_is_forgotten():
    following = Following(SETTINGS, (), False, "")
    following.take('data: {"id": 1}')
    following.headers()
    assert fed(following, 'id: 9\ndata: {"id": 2}\n\n')[0].data == {"id": 2}


def test_a_farewell_for_good_is_an_error():
    with pytest.raises(StreamEnded):
        fed(Following(SETTINGS, (), False, ""), 'event: bye\ndata: {"detail": "d"}\n\n')
    assert fed(Following(SETTINGS, (), False, ""), "event: stopping\ndata: {}\n\n") == []
