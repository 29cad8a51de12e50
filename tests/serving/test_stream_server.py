"""The event stream and the one port, asked over a real socket."""

import re
import socket
from html import unescape

import pytest

from allocation.atributo import Atributo
from atributo_site.core.events import record
from tests.factories.jobs import make_job, make_queue
from tests.servers import patient_http
from tests.serving.sse_client import Listening


def test_events_arrive_while_they_happen(web, bearer, wait_until):
    with Listening(f"{web()}/events/stream", bearer("viewer")) as stream:
        record("a.made", "a:1", size=3)
        wait_until(stream.data)
        assert stream.data()[0]["facts"] == {"size": 3}


def test_topics_choose_what_arrives(web, bearer, wait_until):
    url = f"{web()}/events/stream"
    with Listening(url, bearer("viewer"), topics="instance,queue:mail") as stream:
        for subject in ("queue:mailing", "instances:1", "queue:mail", "instance:9"):
            record("x.made", subject)
        wait_until(lambda: len(stream.data()) == 2)
        assert stream.subjects() == ["queue:mail", "instance:9"]


def test_a_reconnect_gets_what_happened_meanwhile(web, bearer, wait_until):
    url, headers = f"{web()}/events/stream", bearer("viewer")
    with Listening(url, headers) as stream:
        record("a.made", "a:1")
        wait_until(stream.data)
    record("a.made", "a:2")
    with Listening(url, {**headers, "Last-Event-ID": stream.last_id()}) as again:
        wait_until(again.data)
        assert again.subjects() == ["a:2"]


def test_a_client_that_got_nothing_yet_resumes_from_its_beginning(web, bearer, wait_until):
    url, headers = f"{web()}/events/stream", bearer("viewer")
    with Listening(url, headers) as stream:
        mark = stream.last_id()
    record("a.made", "a:1")
    with Listening(url, headers, last_event_id=mark) as again:
        wait_until(again.data)
        assert again.subjects() == ["a:1"]


def test_too_much_missed_is_said_and_the_stream_goes_on(web, bearer, wait_until):
    url, headers = f"{web()}/events/stream", bearer("viewer")
    from_another_database = f"i{10**17}"
    with Listening(url, headers, last_event_id=from_another_database) as stream:
        record("a.made", "a:1")
        wait_until(lambda: stream.subjects() == ["a:1"])
        assert stream.said() == ["overflow"]


@pytest.mark.parametrize("mark", ["x", "i", "s9:1:", "i" + "9" * 30])
def test_a_wrong_last_event_id_is_400(web, bearer, mark):
    answer = patient_http.get(
        f"{web()}/events/stream", headers={**bearer("viewer"), "Last-Event-ID": mark}
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_the_stream_needs_a_user_with_a_role(web, django_user_model, client):
    url = f"{web()}/events/stream"
    answer = patient_http.get(url)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="api"')
    client.force_login(django_user_model.objects.create(username="nobody"))
    cookies = {"sessionid": client.cookies["sessionid"].value}
    assert patient_http.get(url, cookies=cookies).status_code == 403


@pytest.mark.parametrize("path", ["/events/stream", "/%ff"])
def test_answers_that_django_never_sees_carry_a_request_id(web, path):
    url = f"{web()}{path}"
    known = patient_http.get(url, headers={"X-Request-Id": "known-id-1"})
    assert known.headers["X-Request-Id"] == "known-id-1"
    made = patient_http.get(url, headers={"X-Request-Id": "<b>"})
    assert len(made.headers["X-Request-Id"]) == 32


def test_a_session_may_listen(web, client_as, wait_until):
    url = f"{web()}/events/stream"
    cookie = client_as("viewer").cookies["sessionid"].value
    with Listening(url, {"Cookie": f"sessionid={cookie}"}) as stream:
        record("a.made", "a:1")
        wait_until(stream.data)


def test_a_user_has_a_bounded_number_of_streams(web, bearer, wait_until):
    url = f"{web(streams_per_user=1, streams=2)}/events/stream"
    viewer = bearer("viewer")
    with Listening(url, viewer), Listening(url, bearer("admin")):
        assert patient_http.get(url, headers=viewer).status_code == 429
        answer = patient_http.get(url, headers=bearer("operator"))
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    wait_until(lambda: _opens(url, viewer))


def _opens(url, headers):
    with patient_http.stream("GET", url, headers=headers) as response:
        return response.status_code == 200


def test_other_methods_of_the_stream_are_405(web, bearer):
    url = f"{web()}/events/stream"
    answer = patient_http.post(url, headers=bearer("viewer"))
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert patient_http.head(url, headers=bearer("viewer")).status_code == 200


def test_an_encoded_slash_in_an_address_reaches_the_view_as_one(web, bearer):
    url, headers = web(), bearer("viewer")
    assert patient_http.get(f"{url}/api/v1%2Fme", headers=headers).status_code == 404
    assert patient_http.get(f"{url}/api/v1/%6De", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/a%1fb", "/api/v1/%ff"])
def test_an_address_that_cannot_be_told_apart_is_400(web, path):
    answer = patient_http.get(f"{web()}{path}")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_a_body_without_a_length_is_cut_off_at_the_limit(web, bearer):
    def endless():
        while True:
            yield b"[" * 65536

    url = f"{web(body_bytes=100_000)}/api/v1/tokens"
    headers = {**bearer("admin"), "Content-Type": "application/json"}
    answer = patient_http.post(url, content=endless(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_body_in_chunks_is_read(web, bearer):
    chunks = iter([b'{"name": "x",', b' "level": "view"}'])
    headers = {**bearer("admin"), "Content-Type": "application/json"}
    answer = patient_http.post(f"{web()}/api/v1/tokens", content=chunks, headers=headers)
    assert answer.status_code == 201


def test_a_header_with_an_underscore_does_not_pass_for_another(web, token_of):
    with socket.create_connection(("127.0.0.1", int(web().rpartition(":")[2]))) as client:
        request = "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n"
        client.sendall(f"{request}Content_Length: 9\r\nConnection: close\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 401")


def test_the_links_of_pages_lead_to_what_has_a_slash_in_its_name(web, client_as):
    Atributo().available("rack 3/a&b")
    client = client_as("viewer")
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    with patient_http.Client(base_url=web(), cookies=cookies) as browser:
        link = re.search(r'href="(/instances/rack[^"]+)"', browser.get("/instances/").text)[1]
        page = browser.get(unescape(link))
        assert page.status_code == 200 and "rack 3/a&amp;b" in page.text
        live = re.search(r'hx-get="([^"]+)"', page.text)[1]
        assert browser.get(unescape(live)).status_code == 200
        assert browser.get("/instances/rack%203%2Fa&b/").status_code == 200


def test_the_next_page_of_what_has_a_slash_in_its_name_is_found(web, bearer):
    queue = make_queue("a/b")
    jobs = [make_job(queue).pk for _ in range(2)]
    with patient_http.Client(base_url=web(), headers=bearer("viewer")) as program:
        first = program.get("/api/v1/queues/a%2Fb/jobs?limit=1").json()
        second = program.get(first["next"]).json()
    assert [page["results"][0]["id"] for page in (first, second)] == [str(pk) for pk in jobs[::-1]]
