"""Tells what a sticky job is told of its place; with an order, notes when it was there."""

import json
import time


def run(context):
    order = context.argv[0] if context.argv else {}
    place = {name: context.job[name] for name in ("sticky_key", "instance", "epoch")}
    if "file" not in order:
        return place
    began = time.time()
    time.sleep(order.get("sleep", 0))
    line = {**place, "job": context.job["id"], "began": began, "ended": time.time()}
    with open(order["file"], "a") as file:
        file.write(json.dumps(line) + "\n")
    return place
