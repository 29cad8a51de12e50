"""Fail in every possible way; a queue counts each as one failure and tries again."""

import os
import signal
import time


class Teapot(Exception):
    status_code = 418  # what REST answers when the script is run at once


def run(context):
    (order,) = context.argv or [{}]
    return WAYS[order.get("how", "raise")]()


def fail():
    raise ValueError("failed on purpose")


def teapot():
    raise Teapot("short and stout")


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    while True:
        try:
            time.sleep(60)
        except BaseException as error:  # it is what this script shows
            print(f"swallowed {error!r}")


WAYS = {
    "raise": fail,
    "teapot": teapot,
    "exit": lambda: os._exit(3),
    "kill": kill,
    "hang": hang,
    "bad result": lambda: {1, 2, 3},
}
