"""Tells when another run of its key is alive; the lock ends with its process."""

import fcntl
import time


def run(context):
    order = context.argv[0]
    with open(f"{order['folder']}/{order['key']}.alone", "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"{order['folder']}/overlaps", f"{order['key']} {context.job['id']}")
        time.sleep(order["sleep"])
    note(f"{order['folder']}/ran", context.job["id"])


def note(path, line):
    with open(path, "a") as file:
        file.write(f"{line}\n")
