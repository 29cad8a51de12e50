"""Measure how long a script prints characters without an end of line, in a real child.

python -m bench.printing        fails when 300,000 take more than LONGEST_SECONDS
"""

import os
import sys
import time

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
os.environ.setdefault("ATRIBUTO_ENV", "test")

COUNTS = (80_000, 300_000)
LONGEST_SECONDS = 6.0


def dots(count: int) -> None:
    for _ in range(count):
        print(".", end="")


def seconds_for(count: int) -> float:
    from queues.children.child_process import Workhorse

    script = {"mount": "", "script": "bench.printing:dots", "data": str(count)}
    work = {**script, "timeout_ms": None, "run_failures": 0, "back_off": None, "revision": 0}
    horse = Workhorse(512)
    try:
        horse.give([{**work, "job": None}], 0.0)
        while True:
            message = horse.receive(600.0)
            assert message is not None, "it did not end in ten minutes"
            if message["t"] == "done":
                assert message["ok"], message
                return float(message["seconds"])
    finally:
        horse.close()


def main() -> int:
    import django

    django.setup()
    begun = time.monotonic()
    for count in COUNTS:
        taken = seconds_for(count)
        print(f'print(".", end="") {count:>9,} times: {taken:6.2f} s', flush=True)
    print(f"with their processes: {time.monotonic() - begun:.2f} s")
    return 0 if taken <= LONGEST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
