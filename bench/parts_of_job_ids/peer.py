"""Measure one id of a peer in its own environment: `python peer.py ulid` or `snowflake`."""

import sys
import time
from collections.abc import Callable

COUNT = 20_000


def makers() -> dict[str, Callable[[], object]]:
    from snowflake import SnowflakeGenerator
    from ulid import ULID

    numbers = SnowflakeGenerator(1)
    return {"ulid": lambda: str(ULID()), "snowflake": lambda: next(numbers)}


if __name__ == "__main__":
    make = makers()[sys.argv[1]]
    start = time.perf_counter()
    for _ in range(COUNT):
        make()
    print((time.perf_counter() - start) / COUNT * 1e6)
