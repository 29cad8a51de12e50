"""A process of the storm: waits for a line, allocates own and shared ids, prints what it was told.

python -m tests.allocation.placement.allocator NAME ROUNDS
"""

import json
import os
import random
import sys

import django


def main(name: str, rounds: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    django.setup()
    from allocation.atributo import Atributo
    from allocation.errors import NoInstances

    ao, dice, told = Atributo(), random.Random(name), []
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(rounds):
        shared = f"shared{dice.randrange(rounds)}"
        own = f"{name}-{number}"
        for job_id in (shared, own):
            try:
                told.append([job_id, *ao.allocate(job_id)])
            except NoInstances:  # the last one has just been made unavailable
                told.append([job_id, None, False])
        if dice.random() < 0.3:
            ao.deallocate(own)
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
