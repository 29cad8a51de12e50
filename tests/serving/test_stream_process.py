"""The web process itself: started by its command, stopped by a signal."""

import signal

import pytest

from atributo_site.core.events import record
from tests.servers import patient_http
from tests.serving.sse_client import Listening


@pytest.fixture
def web_process(spawn, free_port, wait_until):
    process = spawn("web", env={"ATRIBUTO_PORT": str(free_port)})
    process.url = f"http://127.0.0.1:{free_port}"
    wait_until(lambda: patient_http.answers(process.url), 60, process.output())
    return process


def test_stopping_the_server_ends_the_streams_at_once(web_process, token_of, wait_until):
    headers = {"Authorization": f"Bearer {token_of('viewer')}"}
    with Listening(f"{web_process.url}/events/stream", headers) as stream:
        record("a.made", "a:1")
        wait_until(stream.data)
        web_process.send_signal(signal.SIGTERM)
        wait_until(stream.ended.is_set)
        assert stream.said() == ["stopping"]
    assert web_process.wait() in (0, -signal.SIGTERM)  # uvicorn hands the signal on at its end
    assert "Cancel" not in web_process.output()
