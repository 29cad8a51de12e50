"""A stream ends for these reasons and survives others; requests do not affect each other."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from atributo_site.core.event_cursor import EventCursor
from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.serving import stream as serving
from atributo_site.serving.broadcast import Listener
from atributo_site.serving.stream import OpenStream
from atributo_site.serving.stream_access import Reader
from tests.servers import patient_http
from tests.serving.sse_client import Listening


def said_before_closing(reason):
    """Return everything that a stream writes when its listener is closed."""
    written = []

    async def send(message):
        written.append(message.get("body", b""))

    async def run():
        listener = Listener()
        listener.close(reason)
        reader = Reader(user_id=1, topics=(), cursor=EventCursor("7"), resumes=False)
        await OpenStream(None, reader, listener, send, None).run([])

    asyncio.run(run())
    return b"".join(written).decode()


def test_a_slow_reader_is_told_before_the_stream_ends():
    assert "event: overflow\n" in said_before_closing("overflow")


def test_a_reader_that_has_gone_is_told_nothing():
    assert said_before_closing("gone") == "retry: 2000\nid: i7\n\n"


def test_an_idle_stream_beats(web, bearer, wait_until, monkeypatch):
    monkeypatch.setattr(serving, "HEARTBEAT_SECONDS", 0.05)
    with Listening(f"{web()}/events/stream", bearer("viewer")) as stream:
        wait_until(lambda: stream.comments > 2)


def test_a_mark_moves_on_without_an_event_for_the_listener(web, bearer, wait_until, monkeypatch):
    monkeypatch.setattr(serving, "HEARTBEAT_SECONDS", 0.05)
    with Listening(f"{web()}/events/stream", bearer("viewer"), topics="queue") as stream:
        before = stream.last_id()
        record("a.made", "a:1")
        wait_until(lambda: stream.last_id() != before)
        assert stream.data() == []


def test_a_log_out_ends_the_stream(web, client_as, wait_until, monkeypatch):
    monkeypatch.setattr(serving, "CHECK_SECONDS", 0.1)
    client = client_as("viewer")
    cookie = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    with Listening(f"{web()}/events/stream", cookie) as stream:
        client.session.flush()
        wait_until(stream.ended.is_set)
        assert stream.said() == ["bye"]


def test_a_user_who_lost_the_role_is_cut_off(web, bearer, user_as, wait_until, monkeypatch):
    monkeypatch.setattr(serving, "CHECK_SECONDS", 0.1)
    with Listening(f"{web()}/events/stream", bearer("viewer")) as stream:
        user_as("viewer").groups.clear()
        wait_until(stream.ended.is_set)
        assert stream.said() == ["bye"]


@pytest.mark.only_on("postgresql")
def test_a_stream_survives_the_database(
    spawn, free_port, process_environment, migrated_database, tcp_proxy, bearer, wait_until
):
    host = migrated_database.settings["OPTIONS"]["host"]
    proxy = tcp_proxy(f"{host}/.s.PGSQL.5432")
    name, user = migrated_database.settings["NAME"], migrated_database.settings["USER"]
    database = f"postgresql://{user}@127.0.0.1:{proxy.port}/{name}"
    env = {"ATRIBUTO_PORT": str(free_port), "DATABASE_URL": database}
    process, url = spawn("web", env=env), f"http://127.0.0.1:{free_port}"
    wait_until(lambda: patient_http.answers(url), 60, process.output())
    with Listening(f"{url}/events/stream", bearer("viewer")) as stream:
        proxy.mode = "cut"
        wait_until(lambda: "degraded" in stream.said())
        record("a.made", "a:1")
        proxy.mode = "pass"
        wait_until(lambda: stream.said()[-1] == "healed")
        assert (stream.said()[0], set(stream.said())) == ("degraded", {"degraded", "healed"})
        wait_until(lambda: stream.subjects() == ["a:1"])


def test_requests_in_the_thread_pool_keep_their_actors(web, bearer):
    url = f"{web()}/api/v1/tokens"
    callers = {name: bearer("admin", None, 1, name) for name in ("ada", "bob", "cyd")}
    Event.objects.all().delete()

    def make(number):
        name = ("ada", "bob", "cyd")[number % 3]
        body = {"name": name, "level": "view"}
        return patient_http.post(url, json=body, headers=callers[name]).status_code

    with ThreadPoolExecutor(6) as threads:
        assert set(threads.map(make, range(30))) == {201}
    made = Event.objects.filter(kind="token.made")
    assert {(event.actor, event.facts["name"]) for event in made} == {
        *(("ada", "ada"), ("bob", "bob"), ("cyd", "cyd"))
    }
    assert {event.channel for event in made} == {"rest"}
