"""Adds its job to the list of its key, and tells when another run of the key is alive."""

import fcntl
import time


def run(context):
    order = context.argv[0]
    with open(f"{order['folder']}/{order['key']}.alone", "a") as file:
        try:  # the lock ends with its process, however that ends
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"{order['folder']}/overlaps", f"{order['key']} {context.job['id']}")
        with context.transaction(wait=60) as txn:
            add(txn, order["key"], context.job["id"])
            time.sleep(order["sleep"])
            add(txn, "everybody", context.job["id"])


def add(txn, key, job_id):
    txn.put("serial", key, [*txn.get("serial", key).json, job_id])


def note(path, line):
    with open(path, "a") as file:
        file.write(f"{line}\n")
