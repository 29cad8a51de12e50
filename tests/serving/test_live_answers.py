"""Equal questions of live pages are answered once, and nobody gets the answer of somebody else."""

import asyncio

import pytest

from atributo_site.serving.live_answers import LiveAnswers
from atributo_site.status.marks import Generation


class Site:
    """Answer each question with its number; `status` may be changed."""

    status = 200

    def __init__(self):
        self.asked, self.now = 0, 100.0
        self.numbers = Generation()
        self.numbers.begin()
        self.answers = LiveAnswers(self.ask, self.numbers, lambda: self.now)

    async def ask(self, scope, send):
        self.asked += 1
        body = str(self.asked).encode()
        await asyncio.sleep(0)
        headers = [(b"x-request-id", b"of the first"), (b"content-type", b"text/html")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def scope(self, name=None, cookie=b"session=ada", path="/jobs/", **more):
        name = self.numbers.name if name is None else name
        headers = [(b"cookie", cookie), (b"x-live", name.encode()), *more.pop("headers", [])]
        return {"method": "GET", "path": path, "query_string": b"", "headers": headers, **more}

    async def get(self, **given):
        sent = []

        async def send(message):
            sent.append(message)

        await self.answers(self.scope(**given), send)
        return sent

    def bodies(self, *asked):
        """Ask all at once and return the bodies."""

        async def together():
            return await asyncio.gather(*(self.get(**each) for each in asked))

        return [sent[1]["body"] for sent in asyncio.run(together())]


@pytest.fixture
def site():
    return Site()


def test_equal_questions_at_once_are_asked_once(site):
    assert site.bodies({}, {}, {}) == [b"1", b"1", b"1"]


def test_each_answer_has_a_request_id_of_its_own(site):
    async def two():
        return await asyncio.gather(site.get(), site.get())

    ids = [dict(sent[0]["headers"])[b"x-request-id"] for sent in asyncio.run(two())]
    assert len({*ids, b"of the first"}) == 3


@pytest.mark.parametrize(
    "other",
    [
        {"cookie": b"session=ben"},
        {"path": "/queues/"},
        {"query_string": b"q=x"},
        {"client": ("10.0.0.9", 1)},
        {"headers": [(b"hx-target", b"jobs")]},
    ],
)
def test_whatever_differs_is_asked_for_itself(site, other):
    assert site.bodies({}, other) == [b"1", b"2"]


def test_a_late_page_gets_what_the_newest_hint_brought(site):
    older = site.numbers.name
    site.numbers.advance()
    assert site.bodies({}, {"name": older}) == [b"1", b"1"]


def test_after_the_next_hint_it_is_asked_again(site):
    site.bodies({})
    site.numbers.advance()
    assert site.bodies({}) == [b"2"]


def test_after_a_second_the_rights_are_looked_up_again(site):
    site.bodies({})
    site.now += 1.1
    assert site.bodies({}) == [b"2"]


def test_a_refusal_is_not_passed_on(site):
    site.status = 302
    assert sorted(site.bodies({}, {})) == [b"1", b"2"]
    assert site.bodies({}) == [b"3"]


@pytest.mark.parametrize(
    ("given", "is_concerned"),
    [
        ({}, True),
        ({"method": "POST"}, False),
        ({"name": "ffff.1"}, False),
        ({"name": ""}, False),
        ({"headers": [(b"content-length", b"3")]}, False),
    ],
)
def test_only_pages_that_follow_our_hints_are_concerned(site, given, is_concerned):
    assert site.answers.concerns(site.scope(**given)) is is_concerned


@pytest.mark.parametrize("name", ["", ".", "x", "ffff.1", "{}.0", "{}.3", "{}.-1", "{}.1x", "{}."])
def test_no_other_name_is_one_of_ours(site, name):
    site.numbers.advance()
    prefix = site.numbers.name.partition(".")[0]
    assert site.numbers.newest_after(name.format(prefix)) == ""
    assert site.numbers.newest_after(f"{prefix}.1") == f"{prefix}.2"
