"""Answer /metrics for Prometheus: the snapshot, with the same numbers as on the dashboard."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from rest_framework.request import Request

from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint
from atributo_site.status.snapshot import snapshot
from queues.logic.lateness import target_age
from queues.queries.batches import waiting_counts


class Metrics(Endpoint):
    """For Prometheus; needs a token unless ATRIBUTO_METRICS_OPEN says otherwise."""

    actions = {"GET": "metrics.view"}
    schema = None

    def get_permissions(self) -> Any:
        return [] if settings.ATRIBUTO.metrics_open else super().get_permissions()

    def get(self, request: Request) -> HttpResponse:
        text = exposition(snapshot(database_now()), waiting_counts())
        return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def exposition(snapshot: dict[str, Any], batches: dict[str, int] | None = None) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Snapshot(snapshot, batches or {}))
    return generate_latest(registry)


class _Snapshot:
    """Collect the metrics of one snapshot."""

    def __init__(self, snapshot: dict[str, Any], batches: dict[str, int]) -> None:
        self._snapshot = snapshot
        self._batches = batches

    def collect(self) -> Iterator[Metric]:
        state = self._snapshot
        yield _gauge("redis_up", "1 when Redis answers.", state["redis"]["state"] == "ok")
        yield _gauge(
            "curator_active", "1 when a curator is active.", bool(state["curator"]["active"])
        )
        age = state["curator"]["heartbeat_age_seconds"]
        if age is not None:
            yield _gauge("curator_heartbeat_age_seconds", "Since the last heartbeat.", age)
        yield _gauge("attention", "Things that need attention.", len(state["attention"]))
        broken = len(state["integrity"]["broken"])
        yield _gauge("rules_broken", "Invariants that do not hold.", broken)
        yield self._processes()
        yield self._restarts()
        yield from self._queues()
        yield from self._links()
        yield from self._transactions()
        yield self._fenced()
        yield self._by_state("watched_names", "Names watched in DNS by state.", "names")
        yield self._by_state("backends", "Backends of watched names by state.", "backends")

    def _links(self) -> Iterator[Metric]:
        """Count what waits for ends; the pages do without these."""
        said = {
            "batches_open": "Batches that more jobs may be pushed into.",
            "batches_running": "Batches that are closed and have not ended.",
            "jobs_blocked": "Jobs that wait for others, counted up to 10,001.",
        }
        for name, count in self._batches.items():
            yield _gauge(name, said[name], count)

    def _processes(self) -> Metric:
        family = GaugeMetricFamily(
            "atributo_processes", "Processes by kind and state.", labels=["kind", "state"]
        )
        counts = Counter((p["kind"], p["state"]) for p in self._snapshot["processes"])
        for labels, count in sorted(counts.items()):
            family.add_metric(labels, count)
        return family

    def _transactions(self) -> Iterator[Metric]:
        seen = self._snapshot["transactions"]
        family = GaugeMetricFamily(
            "atributo_transactions", "Transactions that are not over.", labels=["status"]
        )
        for status in ("active", "rolling_back", "stuck"):
            family.add_metric([status], seen[status])
        yield family
        age = seen["oldest_seconds"] or 0
        yield _gauge("transaction_oldest_seconds", "Age of the oldest that is not over.", age)
        yield _gauge("transactions_overdue", "Waiting for the curator.", seen["overdue"])
        yield _gauge("locks", "Keys that are locked.", seen["locks"])
        yield _gauge("locks_orphaned", "Without a transaction.", seen["orphaned_locks"])
        yield _gauge("lock_waits", "Transactions that wait for a key.", seen["waiting"])

    def _fenced(self) -> Metric:
        family = CounterMetricFamily(
            "atributo_fenced", "Late ones that were refused.", labels=["kind"]
        )
        for kind, count in self._snapshot["fenced"].items():
            family.add_metric([kind], count["refused"])
        return family

    def _by_state(self, name: str, sentence: str, key: str) -> Metric:
        family = GaugeMetricFamily(f"atributo_{name}", sentence, labels=["state"])
        for state, count in sorted(self._snapshot["pools"][key].items()):
            family.add_metric([state], count)
        return family

    def _restarts(self) -> Metric:
        family = GaugeMetricFamily(
            "atributo_restarts", "Restarts since the supervisor started.", labels=["process"]
        )
        for child in self._snapshot["restarts"]:
            family.add_metric([child["name"]], child["restarts"])
        return family

    def _queues(self) -> Iterator[Metric]:
        queues = self._snapshot.get("queues", {}).get("queues", [])
        for name, (sentence, value) in QUEUE_GAUGES.items():
            family = GaugeMetricFamily(f"atributo_queue_{name}", sentence, labels=["queue"])
            for queue in queues:
                family.add_metric([queue["name"]], float(value(queue)))
            yield family


QUEUE_GAUGES: dict[str, tuple[str, Callable[[dict[str, Any]], float]]] = {
    "waiting": ("Due jobs, counted up to 10,001.", lambda queue: queue["waiting"]),
    "delayed": ("Jobs due later, counted up to 10,001.", lambda queue: queue["delayed"]),
    "oldest_seconds": ("Age of the oldest due job.", lambda queue: queue["oldest_seconds"] or 0),
    "target_age_seconds": (
        "Age of the oldest due job that is still fine.",
        lambda queue: target_age(queue["target_age_seconds"]),
    ),
    "flows_waiting": (
        "Flow keys with jobs that wait for a limit, counted up to 1,001.",
        lambda queue: queue["flows_waiting"],
    ),
    "running": ("Slots in use.", lambda queue: queue["running"]),
    "max_workers": ("Slots there are.", lambda queue: queue["max_workers"]),
    "paused": ("1 while paused.", lambda queue: queue["paused"]),
    "complete_last_hour": ("Completed runs.", lambda queue: queue["hour"]["complete"]),
    "failed_last_hour": ("Failed attempts.", lambda queue: queue["hour"]["failed"]),
}


def _gauge(name: str, sentence: str, value: float) -> Metric:
    return GaugeMetricFamily(f"atributo_{name}", sentence, value=float(value))
