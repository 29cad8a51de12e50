"""Whatever a script does to its process, the worker that started it goes on."""

import json
import os
import resource
import signal
import socket
import sys
import threading
import time

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from queues.children.child import STOP_SIGNAL, Child
from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone, Wire
from queues.execution.loader import loaded
from queues.runs import notes
from queues.worker.lanes import Lanes
from tests.queues.worker.child_calls import messages, work
from tests.servers.process import has_ended

LINE = "🐴" * 4000


def closes_everything(file):
    os.closerange(3, 1024)
    time.sleep(600)


def dies_and_leaves_a_copy(file):
    if pid := os.fork():
        with open(file, "w") as written:
            written.write(str(pid))
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600)


def tells_its_number(file):
    return os.getpid()


def talks_in_threads(file):
    threads = [threading.Thread(target=print, args=["\n".join([LINE] * 50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def talks_for_ever(file):
    while True:
        print("on and on")


def tells_its_connection(file):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def tells_its_limit(file):
    return resource.getrlimit(resource.RLIMIT_AS)


@pytest.fixture
def workhorse():
    horse = Workhorse(512)
    yield horse
    horse.close()


def test_a_script_that_closes_everything_is_ended(workhorse):
    workhorse.give([work(closes_everything)], 0.0)
    with pytest.raises(ChildGone):
        workhorse.receive(30.0)
    assert workhorse.reap() == "killed (signal 9, SIGKILL)"


def test_a_copy_that_outlives_its_script_hides_nothing_and_ends(workhorse, tmp_path, wait_until):
    file = tmp_path / "pid"
    workhorse.give([work(dies_and_leaves_a_copy, file)], 0.0)
    with pytest.raises(ChildGone):
        wait_until(lambda: workhorse.receive(0.01))
    assert workhorse.reap() == "killed (signal 9, SIGKILL)"
    copy = int(file.read_text())
    wait_until(lambda: has_ended(copy))


def test_one_that_died_while_it_was_idle_is_replaced(workhorse, wait_until):
    workhorse.give([work(tells_its_number)], 0.0)
    (first,) = messages(workhorse)
    os.kill(first["result"], signal.SIGKILL)
    wait_until(lambda: has_ended(first["result"]))
    workhorse.give([work(tells_its_number)], 0.0)
    (second,) = messages(workhorse)
    assert second["result"] != first["result"]


def test_one_that_dies_before_it_has_read_its_batch_fails_no_job(workhorse):
    workhorse.give([work(tells_its_number)], 0.0)
    (first,) = messages(workhorse)
    os.kill(first["result"], signal.SIGSTOP)
    workhorse.give([work(tells_its_number)], 0.0)
    os.kill(first["result"], signal.SIGKILL)
    (second,) = messages(workhorse)
    assert second["ok"]
    assert second["result"] != first["result"]


def test_what_children_begin_with_is_imported_before_the_fork(
    workhorse, tmp_path, settings, monkeypatch
):
    (tmp_path / "begins_here.py").write_text("import os\nbegin = print\nread_by = os.getpid()\n")
    monkeypatch.syspath_prepend(tmp_path)
    settings.SCRIPT_PROCESS_BEGINS = ["begins_here.begin"]
    workhorse.give([work(tells_its_number)], 0.0)
    *_, done = messages(workhorse)
    assert done["ok"]
    assert sys.modules.pop("begins_here").read_by == os.getpid()


def test_children_begin_with_a_connection_to_redis_that_is_not_open_yet(workhorse):
    workhorse.start()
    (prepared,) = notes._of_children.values()
    assert not prepared.is_connected
    workhorse.give([work(tells_its_number)], 0.0)
    *_, done = messages(workhorse)
    assert done["ok"]


def test_children_that_run_one_job_each_start_together():
    lanes = Lanes(2, 512)
    lanes.begin(lanes.shared[0], nothing())
    assert [lane.workhorse.fileno() >= 0 for lane in lanes.all] == [False] * 4
    lanes.begin(lanes.alone[0], nothing())
    assert [lane.workhorse.fileno() >= 0 for lane in lanes.all] == [True, True, False, False]
    lanes.close()


def nothing():
    yield from ()


def test_a_service_is_read_by_two_statements(probe, django_assert_num_queries):
    with django_assert_num_queries(2):
        assert loaded(probe).scripts["act"].path


def test_threads_that_talk_at_once_are_understood(workhorse):
    workhorse.give([work(talks_in_threads)], 0.0)
    *said, done = messages(workhorse)
    assert len(said) >= 199  # two that end at once share a line
    assert done["ok"]


class Undisturbed:
    """The surroundings of this process, which are no script's."""

    def belong_to(self, mount):
        return False

    def restored(self, *, wholly):
        return ""


class Slow(Wire):
    """One on which time is up in the middle of the first line."""

    def send_text(self, text):
        self.sock.sendall(text[:10].encode())
        if not self._lines:
            self._lines.append(b"")
            os.kill(os.getpid(), STOP_SIGNAL)
        super().send_text(text[10:])


def test_a_line_is_whole_though_time_is_up_in_the_middle_of_it(monkeypatch):
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # the child sets its own
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = Child(Slow(theirs), tokens=0, surroundings=Undisturbed())
        before = signal.signal(STOP_SIGNAL, child._stop)
        try:
            child.run_batch([work(talks_for_ever, timeout_ms=1)], 0.0)
        finally:
            signal.signal(STOP_SIGNAL, before)
        said = Wire(ours)
        log, done = (json.loads(said.receive(0.0)) for _ in range(2))
        assert [log["t"], done["error"]] == ["log", "TimedOut: timed out after 1ms"]


@pytest.mark.only_on("postgresql")
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_broke_while_a_child_was_idle_is_made_anew(workhorse):
    workhorse.give([work(tells_its_connection)], 0.0)
    (first,) = messages(workhorse)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [first["result"]])
    workhorse.give([work(tells_its_connection)], 0.0)
    (second,) = messages(workhorse)
    assert second["ok"]
    assert second["result"] != first["result"]


def test_a_limit_of_the_machine_is_kept(workhorse):
    generous = 2**45
    resource.setrlimit(resource.RLIMIT_AS, (generous, generous))
    workhorse.give([work(tells_its_limit)], 0.0)
    (done,) = messages(workhorse)
    soft, hard = done["result"]
    assert soft == hard < generous


@given(st.lists(st.dictionaries(st.text(), st.text(), max_size=3), max_size=5), st.integers(1, 50))
def test_messages_arrive_whole_however_they_are_cut(sent, size):
    data = "".join(json.dumps(each) + "\n" for each in sent).encode()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire, heard = Wire(ours), []
        for begin in range(0, len(data), size):
            theirs.sendall(data[begin : begin + size])
            while (message := wire.receive(0.0)) is not None:
                heard.append(json.loads(message))
    assert heard == sent
