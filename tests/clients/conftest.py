"""Provide the client of this checkout, sync and async, for a site that runs."""

import asyncio
import inspect
import sys
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "python"))

from atributo_client import AsyncClient, Client  # noqa: E402
from tests.servers import patient_http  # noqa: E402

TIMEOUT_SECONDS = 60


class Awaited:
    """Use something of an AsyncClient as if it were that of a Client."""

    def __init__(self, target, runner):
        self._target, self._runner = target, runner

    def __getattr__(self, name):
        member = getattr(self._target, name)
        if inspect.iscoroutinefunction(member) or callable(member):
            return lambda *args, **options: self._awaited(member(*args, **options))
        return Awaited(member, self._runner) if hasattr(member, "_shell") else member

    def _awaited(self, value):
        if inspect.iscoroutine(value):
            return self._runner.run(value)
        if inspect.isasyncgen(value):
            return self._each(value)
        return Awaited(value, self._runner) if hasattr(value, "_shell") else value

    def _each(self, values):
        try:
            with suppress(StopAsyncIteration):
                while True:
                    yield self._runner.run(anext(values))
        finally:
            self._runner.run(values.aclose())

    def __enter__(self):
        self._runner.run(self._target.__aenter__())
        return self

    def __exit__(self, *error):
        self._runner.run(self._target.__aexit__(*error))


@pytest.fixture(params=["sync", "async"])
def connect(request):
    """connect(url, token, ...) → a Client, or an AsyncClient that looks like one."""
    opened = []
    runner = asyncio.Runner()

    def make(url, token, **options):
        options = {"timeout_seconds": TIMEOUT_SECONDS, **options}
        if request.param == "sync":
            opened.append(Client(url, token, **options))
        else:
            opened.append(Awaited(AsyncClient(url, token, **options), runner))
        return opened[-1]

    yield make
    for client in opened:
        client.close()
    runner.close()


@pytest.fixture
def site(web, token_of, connect):
    """Return a client of an administrator, at a site in a thread of this process."""
    return connect(web(), token_of("admin"))


@pytest.fixture
def web_process(spawn, free_port, wait_until, transactional_db):
    """web_process() → a web process at the same address each time, ready to be killed."""

    def start():
        process = spawn("web", env={"ATRIBUTO_PORT": str(free_port)})
        process.url = f"http://127.0.0.1:{free_port}"
        wait_until(lambda: patient_http.answers(process.url), 60, process.output())
        return process

    return start
