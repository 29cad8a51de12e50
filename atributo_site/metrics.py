"""The snapshot as Prometheus metrics: the same numbers that the dashboard shows."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily


def exposition(snapshot: dict[str, Any]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Snapshot(snapshot))
    return generate_latest(registry)


class _Snapshot:
    """A collector over one snapshot."""

    def __init__(self, snapshot: dict[str, Any]) -> None:
        self._snapshot = snapshot

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
        yield self._processes()
        yield self._restarts()
        yield from self._queues()

    def _processes(self) -> Metric:
        family = GaugeMetricFamily(
            "atributo_processes", "Processes by kind and state.", labels=["kind", "state"]
        )
        counts = Counter((p["kind"], p["state"]) for p in self._snapshot["processes"])
        for labels, count in sorted(counts.items()):
            family.add_metric(labels, count)
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
    "running": ("Slots in use.", lambda queue: queue["running"]),
    "max_workers": ("Slots there are.", lambda queue: queue["max_workers"]),
    "paused": ("1 while paused.", lambda queue: queue["paused"]),
    "complete_last_hour": ("Completed runs.", lambda queue: queue["hour"]["complete"]),
    "failed_last_hour": ("Failed attempts.", lambda queue: queue["hour"]["failed"]),
}


def _gauge(name: str, sentence: str, value: float) -> Metric:
    return GaugeMetricFamily(f"atributo_{name}", sentence, value=float(value))
