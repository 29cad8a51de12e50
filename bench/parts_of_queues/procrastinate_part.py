"""Procrastinate on PostgreSQL. POSTGRES in the environment."""

import os
import sys
import time

import procrastinate

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=os.environ["POSTGRES"]),
    import_paths=["procrastinate_part"],
)
sync = procrastinate.SyncPsycopgConnector(conninfo=os.environ["POSTGRES"])


@app.task(name="noop")
def noop():
    return None


@app.task(name="mark")
def mark(path):
    with open(path, "a") as file:
        file.write(f"{time.time()}\n")


def many(count):
    for begin in range(0, count, 1000):
        noop.batch_defer(*[{} for _ in range(min(1000, count - begin))])


def one():
    noop.defer()


def marked(path):
    mark.defer(path=path)


if __name__ == "__main__":
    import procrastinate_part
    from pushing import main

    with procrastinate_part.app.replace_connector(procrastinate_part.sync) as opened, opened.open():
        if sys.argv[1] == "schema":
            opened.schema_manager.apply_schema()
        else:
            main(procrastinate_part)
