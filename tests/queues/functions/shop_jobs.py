"""The functions of a shop, as the host of a site would write them."""

import asyncio
import os
from typing import Literal, TypedDict

from django.core import signing

from queues.tasks import task


class Address(TypedDict):
    street: str
    zip: int


@task
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Further lines are not shown.
    """
    return a + b


@task(max_failures=2, back_off=0, timeout=60_000)
def fail(why: str = "no reason"):
    raise ValueError(why)


@task(takes_context=True)
def write(context, key: str, *, also_fail: bool = False):
    with context.transaction() as txn:
        txn.put("shop", key, {"by": context.job["id"] if context.job else "nobody"})
        context.push(add, 1, b=5)
    context.progress(50, "half")
    context.log("written")
    if also_fail:
        raise ValueError("after the write")
    return context.attempt


@task
async def later(number: int) -> int:
    await asyncio.sleep(0)
    print("from the loop")
    return number * 2


@task
def stay(file: str):
    with open(file, "a") as marks:
        marks.write("began\n")
    while True:
        asyncio.run(asyncio.sleep(0.01))


@task
def typed(
    kind: Literal["a", "b"],
    address: Address | None = None,
    tags: list[str] | None = None,
    urgent: bool = True,
    *rest: float,
    **others: int,
):
    return [kind, address, tags, urgent, rest, others]


@task
def called_back(result, data, job):
    with open(data["file"], "a") as marks:
        marks.write(f"{result} {job['name']}\n")


@task
def sum_up(batch):
    return batch["complete"]


@task
def mark(file: str):
    with open(file, "a") as marks:
        marks.write(f"{os.getpid()}\n")
    return "marked"


@task
def sign(text: str):
    return signing.dumps(text) != text


@task
def wait_a_minute(failures):
    return 60_000


def plain(text: str = "plain"):
    return text


def _hidden():
    return "hidden"
