"""The threads of the web server: as few as keep up, as many as are needed."""

import threading

import pytest

from atributo_site.serving.in_threads import FewThreads

NEVER_LONG, AT_ONCE_LONG = 3600.0, 0.0


@pytest.fixture
def threads():
    """Return a function that makes pools, which are ended."""
    made = []

    def make(*options):
        made.append(FewThreads(*options))
        return made[-1]

    yield make
    for each in made:
        each.shutdown()


def test_the_thread_that_was_busy_last_takes_the_next(threads):
    pool = threads(8, 2, NEVER_LONG)
    idents = {pool.submit(threading.get_ident).result(60) for _ in range(20)}
    assert len(idents) <= 2  # the answer is there a moment before the thread is free


def test_no_more_than_a_few_compute(threads):
    pool, go_on = threads(8, 2, NEVER_LONG), threading.Event()
    together = threading.Barrier(3)  # the two of them and this test
    begun = [pool.submit(lambda: (together.wait(60), go_on.wait(60))) for _ in range(2)]
    late = pool.submit(threading.get_ident)
    together.wait(60)
    assert not late.running()
    assert not late.done()
    go_on.set()
    assert late.result(60)
    assert all(each.result(60)[1] for each in begun)


def test_those_that_take_long_hold_nobody_up(threads):
    pool, together = threads(6, 1, AT_ONCE_LONG), threading.Barrier(6)
    waiting = [pool.submit(together.wait, 60) for _ in range(6)]
    assert sorted(each.result(60) for each in waiting) == list(range(6))


def test_what_is_raised_comes_back(threads):
    pool = threads(2, 1, NEVER_LONG)
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 / 0).result(60)
    assert pool.submit(str, 7).result(60) == "7"


def test_the_end_waits_for_what_was_asked(threads):
    pool = threads(2, 1, NEVER_LONG)
    asked = [pool.submit(str, number) for number in range(50)]
    pool.shutdown()
    assert [each.result(0) for each in asked] == [str(number) for number in range(50)]
    with pytest.raises(RuntimeError):
        pool.submit(str, 1)
