"""A job among others in a loop."""

import os

from bench.parts_of_many.load import work_async


async def run(context):
    order = context.argv[0]
    os.environ.update(order["given"])
    await work_async(order["kind"], order["at"])
