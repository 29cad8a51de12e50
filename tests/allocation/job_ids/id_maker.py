"""A process that makes ids in threads and forked children while its clock steps by an hour.

python -m tests.allocation.job_ids.id_maker COUNT
"""

import os
import sys
import threading
import time

import django

STEPS = (0, 3600, 0, -3600)
THREADS = CHILDREN = 2


def stepping() -> int:
    """The clock, set forward and back by an hour every two seconds."""
    return time.time_ns() + STEPS[int(time.monotonic() / 2) % 4] * 1_000_000_000


def main(count: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    django.setup()
    from django.db import connections

    from allocation.job_ids import ids

    ids._generator = made = ids.Generator("auto", 100, 1000, time_ns=stepping)
    print(made.get_job_id(), flush=True)
    connections.close_all()
    children = []
    for _ in range(CHILDREN):
        pid = os.fork()
        if pid == 0:
            tell([made.get_job_id() for _ in range(count)])
            os._exit(0)
        children.append(pid)
    parts: list[list[str]] = []
    makers = [
        threading.Thread(target=lambda: parts.append(several(made, count, connections)))
        for _ in range(THREADS)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    for part in parts:
        tell(part)
    for pid in children:
        os.waitpid(pid, 0)


def several(made, count, connections) -> list[str]:
    try:
        return [made.get_job_id() for _ in range(count)]
    finally:
        connections.close_all()


def tell(ids: list[str]) -> None:
    """One line for each maker, whole."""
    sys.stdout.flush()
    line = (" ".join(ids) + "\n").encode()
    path = f"{os.environ['ATRIBUTO_IDS']}.{os.getpid()}.{threading.get_ident()}.{ids[0]}"
    with open(path, "xb") as file:
        file.write(line)


if __name__ == "__main__":
    main(int(sys.argv[1]))
