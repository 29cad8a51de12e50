"""A job in a process or a thread."""

import os

from bench.parts_of_many.load import work


def run(context):
    order = context.argv[0]
    os.environ.update(order["given"])
    work(order["kind"], order["at"])
