"""The report of a load test: figures as JSON, charts as SVG."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atributo_site.load.figures import Sample, curve, figures
from atributo_site.load.svg import Chart, drawn


@dataclass(frozen=True)
class Report:
    database: str
    clients: int
    seconds: float  # for each kind
    samples: dict[str, Sample]

    def as_dict(self) -> dict[str, Any]:
        kinds = {kind: asdict(figures(s, self.seconds)) for kind, s in self.samples.items()}
        return {
            "database": self.database,
            "clients": self.clients,
            "seconds": self.seconds,
            "kinds": kinds,
        }

    def rows(self) -> list[list[Any]]:
        """A line per kind for people."""
        return [
            [
                kind,
                found["operations"],
                found["per_second"],
                found["p50_ms"],
                found["p99_ms"],
                found["refused"],
                sum(found["errors"].values()),
            ]
            for kind, found in self.as_dict()["kinds"].items()
        ]

    def write(self, folder: Path) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        contents = {
            "report.json": json.dumps(self.as_dict(), indent=2) + "\n",
            "rates.svg": drawn(self._rates()),
            "latencies.svg": drawn(self._latencies()),
        }
        for name, text in contents.items():
            (folder / name).write_text(text)
        return [folder / name for name in contents]

    def _rates(self) -> Chart:
        lines = {
            kind: [(second + 1.0, float(n)) for second, n in enumerate(found["series"])]
            for kind, found in self.as_dict()["kinds"].items()
        }
        return Chart("Operations in each second", "second", "operations", lines)

    def _latencies(self) -> Chart:
        lines = {kind: curve(sample.took) for kind, sample in self.samples.items()}
        return Chart("How long an operation takes", "percentile", "milliseconds", lines)
