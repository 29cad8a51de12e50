"""The original's own sequence of statements on the bare drivers, in its own tables."""

import hashlib
import sqlite3
import time

import psycopg

SCHEMA = """
CREATE TABLE instances (id TEXT PRIMARY KEY, available BOOLEAN);
CREATE TABLE allocations (job TEXT PRIMARY KEY, instance TEXT REFERENCES instances (id));
CREATE INDEX by_instance ON allocations (instance);
"""
BUSY_WAIT_SECONDS = 1.0


def place(job: str, instances: list[str]) -> str:
    number = int.from_bytes(hashlib.md5(job.encode()).digest()[:4], "big")
    return instances[number % len(instances)]


class SeedOnPostgres:
    """Work as the Node driver does: serializable, without prepared statements."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True, prepare_threshold=None)
        self.conflicts = 0

    def allocate(self, job: str) -> None:
        while True:
            try:
                return self._allocate(job)
            except psycopg.errors.SerializationFailure:
                self.connection.execute("ROLLBACK")
                self.conflicts += 1
                time.sleep(BUSY_WAIT_SECONDS)

    def _allocate(self, job: str) -> None:
        run = self.connection.execute
        run("BEGIN ISOLATION LEVEL SERIALIZABLE")
        if not run("SELECT instance FROM allocations WHERE job = %s", (job,)).fetchall():
            rows = run("SELECT id FROM instances WHERE available = %s", (True,)).fetchall()
            chosen = place(job, [key for (key,) in rows])
            run("INSERT INTO allocations (job, instance) VALUES (%s, %s)", (job, chosen))
        run("COMMIT")


class SeedOnSqlite:
    """Use a rollback journal and full synchronous, which are SQLite's defaults."""

    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, timeout=0)
        self.conflicts = 0

    def allocate(self, job: str) -> None:
        while True:
            try:
                return self._allocate(job)
            except sqlite3.OperationalError:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                self.conflicts += 1
                time.sleep(BUSY_WAIT_SECONDS)

    def _allocate(self, job: str) -> None:
        run = self.connection.execute
        run("BEGIN")
        if not run("SELECT instance FROM allocations WHERE job = ?", (job,)).fetchall():
            rows = run("SELECT id FROM instances WHERE available = ?", (True,)).fetchall()
            chosen = place(job, [key for (key,) in rows])
            run("INSERT INTO allocations (job, instance) VALUES (?, ?)", (job, chosen))
        run("COMMIT")


def make_tables(seed: SeedOnPostgres | SeedOnSqlite) -> None:
    """Drop the tables and make them again."""
    for name in ("allocations", "instances"):
        seed.connection.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in SCHEMA.strip().split(";\n"):
        seed.connection.execute(statement)


def set_instances(seed: SeedOnPostgres | SeedOnSqlite, count: int) -> None:
    mark = "%s" if isinstance(seed, SeedOnPostgres) else "?"
    rows = [(f"instance{n}", True) for n in range(count)]
    seed.connection.execute("DELETE FROM allocations")
    seed.connection.execute("DELETE FROM instances")
    seed.connection.execute("BEGIN")
    seed.connection.cursor().executemany(f"INSERT INTO instances VALUES ({mark}, {mark})", rows)
    seed.connection.execute("COMMIT")
