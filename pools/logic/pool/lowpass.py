"""A low-pass filter over the number of connections wanted lately."""

import math
from collections import deque

TAPS = 128
TIME_CONSTANT = -0.2
SAMPLE_MS = 200.0


def make_taps(count: int = TAPS, constant: float = TIME_CONSTANT) -> tuple[float, ...]:
    raw = [math.exp(constant * i) for i in range(count)]
    total = sum(raw)
    return tuple(value / total for value in raw)


class LowPass:
    _taps = make_taps()

    def __init__(self, level: float) -> None:
        self._samples: deque[float] = deque([level] * TAPS, maxlen=TAPS)

    def put(self, sample: float) -> None:
        self._samples.appendleft(sample)

    def value(self) -> float:
        return sum(map(float.__mul__, self._taps, map(float, self._samples)))

    def is_level(self, sample: float) -> bool:
        """Return True if the memory holds nothing but this sample: more of it is useless."""
        return self._samples.count(sample) == TAPS
