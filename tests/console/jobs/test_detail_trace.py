"""The page of a failed job shows the script's own frames first."""

from atributo_site.console.jobs.detail import own_trace
from queues.execution import execution

ENGINE = f'  File "{execution.__file__}", line 48, in run\n    self._call()\n    ^^^\n'
SCRIPT = (
    '  File "/srv/services/bank/scripts/transfer.py", line 19, in run\n    raise Overdrawn(1)\n'
)
JSON = '  File "/usr/lib/python3.11/json/encoder.py", line 180, in default\n    raise TypeError()\n'
HEAD, ERROR = "Traceback (most recent call last):\n", "Overdrawn: too little\n"


def test_frames_of_the_engine_are_left_out():
    whole = HEAD + ENGINE + ENGINE + SCRIPT + JSON + ERROR
    assert own_trace(whole) == HEAD + SCRIPT + JSON + ERROR


def test_each_error_of_a_chain_keeps_its_own_frames():
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"
    whole = HEAD + SCRIPT + ERROR + between + HEAD + ENGINE + SCRIPT + ERROR
    assert own_trace(whole) == HEAD + SCRIPT + ERROR + between + HEAD + SCRIPT + ERROR


def test_a_failure_outside_of_the_script_is_shown_whole():
    assert own_trace(HEAD + ENGINE + JSON + ERROR) == ""
    assert own_trace(HEAD + ENGINE + ERROR) == ""


def test_what_has_no_frame_of_the_engine_is_shown_once():
    assert own_trace(HEAD + SCRIPT + ERROR) == ""
    assert own_trace("killed by signal 9") == own_trace("") == ""
