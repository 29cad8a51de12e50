"""Quantiles out of counted buckets, drawn evenly inside the bucket that holds them."""

from collections.abc import Sequence


def quantile(bounds: Sequence[float], counts: Sequence[int], share: float) -> float | None:
    """`bounds` end all buckets but the last; a value in that one counts as its beginning."""
    wanted, seen = share * sum(counts), 0
    if not wanted:
        return None
    lower = 0.0
    for bound, count in zip(bounds, counts, strict=False):
        if count and seen + count >= wanted:
            return lower + (bound - lower) * (wanted - seen) / count
        seen, lower = seen + count, bound
    return lower
