"""List the contestants; each has an environment of its own below var/bench."""

import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.parts.environments import python_of, versions_of

PARTS = Path(__file__).parent
ROOT = PARTS.parent.parent
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "2"))


@dataclass
class Contestant:
    name: str
    part: str
    worker: list[str]
    packages: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    schema: bool = False
    share: float = 1.0  # of the jobs
    rounds: int = ROUNDS
    figures: dict[str, list[float]] = field(default_factory=dict)
    python_path: str = sys.executable

    def python(self) -> str:
        """Return the interpreter of its own environment, which is made on first use."""
        if not self.packages:
            return sys.executable
        return python_of(self.part, self.packages)

    def versions(self) -> str:
        return versions_of(self.python_path, self.packages[:1]) if self.packages else ""

    def call(self, *arguments: str) -> str:
        command = [self.python_path, str(PARTS / f"{self.part}.py"), *arguments]
        done = subprocess.run(
            command, cwd=PARTS, env=self._env(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr[-2000:]}")
        return done.stdout

    def start(self) -> subprocess.Popen[bytes]:
        words = [word.replace("PYTHON", self.python_path) for word in self.worker]
        return subprocess.Popen(
            words,
            cwd=PARTS if self.packages else ROOT,
            env=self._env(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _env(self) -> dict[str, str]:
        paths = f"{PARTS}:{ROOT}" if not self.packages else str(PARTS)
        return {**os.environ, **self.environment, "PYTHONPATH": paths}

    def note(self, what: str, value: float) -> None:
        self.figures.setdefault(what, []).append(value)

    def median(self, what: str) -> float | None:
        values = self.figures.get(what)
        return statistics.median(values) if values else None


def contestants(redis: str, postgres: Callable[[str], str], folder: Path) -> list[Contestant]:
    ours = {
        "REDIS_URL": redis,
        "ATRIBUTO_ENV": "test",
        "ATRIBUTO_LOG_LEVEL": "ERROR",
        "ATRIBUTO_SERVICE_ROOTS": str(PARTS),
    }
    worker = ["PYTHON", "manage.py", "worker"]
    on_postgres = {
        **ours,
        "DATABASE_URL": postgres("ours"),
        "ATRIBUTO_VAR_DIR": str(folder / "a"),
    }
    on_redis = {"REDIS": redis}
    rq = ["rq", "redis"]
    return [
        Contestant(
            "ours, PostgreSQL",
            "ours",
            worker,
            environment=on_postgres,
            schema=True,
        ),
        Contestant(
            "ours, one job per claim",
            "ours",
            ["PYTHON", str(PARTS / "ours.py"), "worker"],
            environment=on_postgres,
            share=0.3,
            rounds=1,
        ),
        Contestant(
            "ours, SQLite",
            "ours",
            worker,
            environment={
                **ours,
                "DATABASE_URL": f"sqlite:///{folder}/ours.sqlite3",
                "ATRIBUTO_VAR_DIR": str(folder / "b"),
            },
            schema=True,
        ),
        Contestant(
            "RQ SimpleWorker",
            "rq_part",
            ["PYTHON", "-m", "rq.cli", "worker", "-q", "-u", redis, "-w", "rq.SimpleWorker"],
            rq,
            on_redis,
            share=0.2,
        ),
        Contestant(
            "RQ Worker (fork)",
            "rq_part",
            ["PYTHON", "-m", "rq.cli", "worker", "-q", "-u", redis],
            rq,
            on_redis,
            share=0.05,
            rounds=1,
        ),
        Contestant(
            "Huey, Redis",
            "huey_part",
            ["PYTHON", "-m", "huey.bin.huey_consumer", "huey_part.huey", "-q"],
            ["huey", "redis"],
            on_redis,
        ),
        Contestant(
            "Huey, SQLite",
            "huey_part",
            ["PYTHON", "-m", "huey.bin.huey_consumer", "huey_part.huey", "-q"],
            ["huey", "redis"],
            {**on_redis, "HUEY_FILE": str(folder / "huey.sqlite3")},
            rounds=1,
        ),
        Contestant(
            "Dramatiq, Redis",
            "dramatiq_part",
            ["PYTHON", "-m", "dramatiq", "dramatiq_part", "-p", "1"],
            ["dramatiq[redis]"],
            on_redis,
        ),
        Contestant(
            "Celery, Redis",
            "celery_part",
            ["PYTHON", "-m", "celery", "-A", "celery_part", "-q", "worker", "-c", "1"],
            ["celery[redis]", "sqlalchemy", "psycopg[binary]"],
            on_redis,
            share=0.3,
            rounds=1,
        ),
        Contestant(
            "Celery, results in PostgreSQL",
            "celery_part",
            ["PYTHON", "-m", "celery", "-A", "celery_part", "-q", "worker", "-c", "1"],
            ["celery[redis]", "sqlalchemy", "psycopg[binary]"],
            {
                **on_redis,
                "RESULTS": postgres("celery").replace("postgresql://", "db+postgresql+psycopg://"),
            },
            share=0.1,
            rounds=1,
        ),
        Contestant(
            "procrastinate",
            "procrastinate_part",
            [
                *("PYTHON", "-m", "procrastinate", "--app=procrastinate_part.app"),
                *("--log-level", "error", "worker"),
            ],
            ["procrastinate", "psycopg[binary,pool]"],
            {"POSTGRES": postgres("procrastinate")},
            schema=True,
            share=0.1,
            rounds=1,
        ),
        Contestant(
            "django-tasks, database",
            "django_tasks_part",
            ["PYTHON", "django_tasks_part.py", "worker"],
            ["django-tasks", "django-tasks-db", "psycopg[binary]", "django"],
            {"POSTGRES": postgres("django_tasks")},
            schema=True,
            share=0.1,
            rounds=1,
        ),
    ]
