"""Runs until it is told to end by a file, and never lets itself be interrupted."""

import time
from pathlib import Path


def run(context):
    order = context.argv[0]
    Path(order["started"]).touch()
    context.progress(50, "half")
    while not Path(order["go"]).exists():
        try:
            time.sleep(0.02)
        except BaseException:
            if not order.get("stubborn"):
                raise
    return "done"
