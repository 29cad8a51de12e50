"""Turn the times of single operations into the figures of a report."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Sample:
    """Keep when each operation of a client ended and how long it took, in seconds."""

    ended: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    refused: int = 0  # because another client held a key

    def __add__(self, other: "Sample") -> "Sample":
        return Sample(
            self.ended + other.ended,
            self.took + other.took,
            self.errors + other.errors,
            self.refused + other.refused,
        )


@dataclass(frozen=True)
class Figures:
    """Describe one kind of operation in numbers."""

    operations: int
    refused: int
    errors: dict[str, int]
    per_second: float
    p50_ms: float
    p99_ms: float
    longest_ms: float
    series: list[int]  # operations in each second


def figures(sample: Sample, seconds: float) -> Figures:
    """Use the time until the last operation ended: a client at its limit stops earlier."""
    took = sorted(sample.took)
    return Figures(
        operations=len(took),
        refused=sample.refused,
        errors=dict(sample.errors),
        per_second=round(len(took) / (max(sample.ended, default=0.0) or seconds), 1),
        p50_ms=_milliseconds(took, 0.50),
        p99_ms=_milliseconds(took, 0.99),
        longest_ms=_milliseconds(took, 1.0),
        series=_series(sample.ended, seconds),
    )


def percentile(ordered: list[float], share: float) -> float:
    """Return the smallest value that at least this share does not exceed; 0 for no values."""
    if not ordered:
        return 0.0
    place = max(0, -(-len(ordered) * round(share * 10_000) // 10_000) - 1)
    return ordered[place]


def curve(took: list[float]) -> list[tuple[float, float]]:
    """Return milliseconds by percentile, up to the 99th: the last one would dwarf the others."""
    ordered = sorted(took)
    return [(float(n), percentile(ordered, n / 100) * 1000) for n in range(1, 100)]


def _milliseconds(ordered: list[float], share: float) -> float:
    return round(percentile(ordered, share) * 1000, 2)


def _series(ended: list[float], seconds: float) -> list[int]:
    counts = Counter(int(moment) for moment in ended)
    return [counts[second] for second in range(max(1, round(seconds)))]
