"""How long a script that runs at once may take."""

import pytest

from queues.errors import ScriptFailed
from queues.worker.script_follower import follow


class Workhorse:
    """A process that says something at the seconds of its story; its clock is `now`."""

    def __init__(self, **story):
        self.now = 0.0
        self._story = [(second, {"t": kind, **SAID[kind]}) for kind, second in story.items()]
        self._answered = False

    def give(self, work, deadline):
        pass

    def kill(self):
        pass

    def is_over_memory_limit(self):
        return False

    def start_seconds(self, allowed):
        return 0.0 if self._answered else allowed

    def receive(self, timeout):
        second, message = self._story[0]
        if second > self.now + timeout:
            self.now += timeout
            return None
        self.now, self._answered = second, True
        del self._story[0]
        return message


SAID = {
    "log": {"level": "info", "text": "I have begun"},
    "done": {"ok": True, "result": "sent", "seconds": 25.0},
}


def ran(workhorse):
    return follow(workhorse, {"timeout_ms": 30_000}, monotonic=lambda: workhorse.now)


def test_the_start_of_its_interpreter_is_not_the_scripts_time():
    assert ran(Workhorse(log=15.0, done=40.0)).result == "sent"


@pytest.mark.parametrize("story", [{"log": 15.0, "done": 46.0}, {"done": 51.0}])
def test_a_script_beyond_its_time_has_failed(story):
    with pytest.raises(ScriptFailed, match="timed out after 30s"):
        ran(Workhorse(**story))
