"""Waits as `wait` does, beside others in threads of one process."""

import time
from pathlib import Path


def run(context):
    order = context.argv[0] if context.argv and isinstance(context.argv[0], dict) else {}
    if "say" in order:
        print(order["say"])
    if "started" in order:
        Path(order["started"]).touch()
    time.sleep(order.get("sleep", 0))
    while "go" in order and not Path(order["go"]).exists():
        time.sleep(0.02)
    return order.get("result")
