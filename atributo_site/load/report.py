"""Write the report of a load test: figures as JSON, line charts as SVG."""

import json
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from atributo_site.load.figures import Sample, curve, figures

Point = tuple[float, float]
WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 40, 44
COLOURS = ("#2563eb", "#d97706", "#059669", "#9333ea")
STEPS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
TICKS = 5


@dataclass(frozen=True)
class Chart:
    title: str
    across: str
    up: str
    series: dict[str, list[Point]]


def drawn(chart: Chart) -> str:
    """Return a whole SVG document."""
    points = [point for line in chart.series.values() for point in line] or [(0.0, 0.0)]
    right = nice(max(x for x, _ in points))
    top = nice(max(y for _, y in points))
    parts = [_frame(chart), *_grid(right, top)]
    for number, (name, line) in enumerate(chart.series.items()):
        parts += _line(number, name, line, right, top)
    return "\n".join([_OPEN, *parts, "</svg>", ""])


def nice(value: float) -> float:
    """Return the next round number, where the axis ends."""
    if value <= 0:
        return 1.0
    size = 1.0
    while size * 10 <= value:
        size *= 10
    while size > value:
        size /= 10
    return next(step * size for step in STEPS if step * size >= value)


_OPEN = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
    f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="system-ui, sans-serif" '
    'font-size="12">'
)


def _frame(chart: Chart) -> str:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return (
        f"<title>{escape(chart.title)}</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<text x="{LEFT}" y="18" font-weight="600">{escape(chart.title)}</text>'
        f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(chart.across)}</text>'
        f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {HEIGHT / 2})">{escape(chart.up)}</text>'
    )


def _grid(right: float, top: float) -> list[str]:
    lines = []
    for number in range(TICKS + 1):
        share = number / TICKS
        x, y = _place((share * right, share * top), right, top)
        lines.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share * top:g}</text>'
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
            f"{share * right:g}</text>"
        )
    return lines


def _line(number: int, name: str, line: list[Point], right: float, top: float) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    places = (_place(point, right, top) for point in line)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    at = LEFT + 130 * number
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        f'<rect x="{at}" y="26" width="10" height="4" fill="{colour}"/>'
        f'<text x="{at + 16}" y="32">{escape(name)}</text>',
    ]


def _place(point: Point, right: float, top: float) -> Point:
    x, y = point
    across = LEFT + x / right * (WIDTH - LEFT - RIGHT)
    return across, HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)


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
        """Return one row for each kind, for people."""
        return [
            [
                kind,
                row["operations"],
                row["per_second"],
                row["p50_ms"],
                row["p99_ms"],
                row["refused"],
                sum(row["errors"].values()),
            ]
            for kind, row in self.as_dict()["kinds"].items()
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
            kind: [(second + 1.0, float(n)) for second, n in enumerate(row["series"])]
            for kind, row in self.as_dict()["kinds"].items()
        }
        return Chart("Operations in each second", "second", "operations", lines)

    def _latencies(self) -> Chart:
        lines = {kind: curve(sample.took) for kind, sample in self.samples.items()}
        return Chart("How long an operation takes", "percentile", "milliseconds", lines)
