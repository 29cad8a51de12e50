"""Python runs this first where PYTHONPATH names the folder: its clock is 40 seconds ahead."""

import time

import time_machine

AHEAD_SECONDS = 40

time_machine.travel(time.time() + AHEAD_SECONDS, tick=True).start()
