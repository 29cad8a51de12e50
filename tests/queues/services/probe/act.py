"""Notes that it ran, then does as it is told."""

import os
import signal
import time


class Odd(Exception):
    status_code = 418


def run(context):
    order = context.argv[0] if context.argv and isinstance(context.argv[0], dict) else {}
    ran = note(order["file"], context) if "file" in order else 0
    for line in order.get("say", []):
        context.log(line)
    if 0 < ran <= order.get("fail_first", 0) or ran in order.get("fail_at", []):
        raise ValueError(f"told to fail {order.get('why', '')}".strip())
    if order.get("odd"):
        raise Odd("a teapot")
    if order.get("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    if order.get("kill") == "family":
        for pid in (parent_of(os.getppid()), os.getppid()):
            os.kill(pid, signal.SIGKILL)
    if order.get("kill") == "by shell":
        os.system(f"kill -9 {parent_of(os.getppid())}; kill -9 {os.getppid()}")
    if order.get("hold_mb"):
        bytearray(order["hold_mb"] << 20)
    if order.get("clean_up"):
        fail_while_cleaning_up()
    time.sleep(order.get("sleep", 0))
    if order.get("family"):
        return [os.getppid(), parent_of(os.getppid())]
    return order.get("result", context.argv)


def fail_while_cleaning_up():
    try:
        time.sleep(60)
    finally:
        raise ValueError("the connection is in the middle of something")


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def note(path, context):
    with open(path, "a") as file:
        file.write(f"{context.job['id'] if context.job else '-'} {time.time()}\n")
    with open(path) as file:
        return len(file.readlines())
