"""Runs until it is told to end by a file, and never lets itself be interrupted."""

import signal
import time
from pathlib import Path


def run(context):
    order = context.argv[0]
    if order.get("deaf"):  # as a process is before it listens
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    Path(order["started"]).touch()
    context.progress(50, "half")
    while not Path(order["go"]).exists():
        try:
            time.sleep(0.02)
        except BaseException:
            if not order.get("stubborn"):
                raise
    return "done"
