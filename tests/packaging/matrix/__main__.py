"""Try every pair of Django and Python; print a table.

python -m tests.packaging.matrix [6.1] [6.0:3.12] [--step upstream]
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.packaging.matrix import environments, steps
from tests.packaging.matrix.environments import Failed
from tests.packaging.matrix.pairs import SERIES, Pair, chosen, find_python, left_out
from tests.packaging.matrix.third_party import third_party

Step = Callable[[Pair, Path], str]
STEPS: dict[str, Step] = {
    "embedding": steps.embedding,
    "suite": steps.suite,
    "upstream": steps.upstream,
}
THIRD_PARTY = "third-party"


def main(words: list[str]) -> int:
    given = _arguments(words)
    wheel = environments.build()
    rows = []
    for pair in chosen(given.pairs):
        reason = left_out(pair, find_python)
        if reason:
            rows.append((pair, "all", f"not tried: {reason}", True))
            continue
        rows += _tried(pair, wheel, given.step or [*STEPS, THIRD_PARTY])
    _print(rows)
    return 0 if all(row[3] for row in rows) else 1


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make matrix", description=__doc__)
    parser.add_argument("pairs", nargs="*", help="such as 6.1 or 6.0:3.12; all by default")
    parser.add_argument("--step", action="append", choices=[*STEPS, THIRD_PARTY])
    return parser.parse_args(words)


def _tried(pair: Pair, wheel: Path, wanted: list[str]) -> list[tuple[Pair, str, str, bool]]:
    rows = []
    try:
        python = environments.make(pair, wheel)
    except Failed as error:
        return [(pair, "install", str(error), False)]
    for name in wanted:
        if name == THIRD_PARTY and pair.python != SERIES[pair.django][-1]:
            continue  # once for each Django
        rows.append(_step(pair, python, name, wheel))
    return rows


def _step(pair: Pair, python: Path, name: str, wheel: Path) -> tuple[Pair, str, str, bool]:
    begun = time.monotonic()
    try:
        said = third_party(pair, wheel) if name == THIRD_PARTY else STEPS[name](pair, python)
        is_fine = True
    except Failed as error:
        said, is_fine = f"FAILED: {error}", False
    said = f"{said} ({time.monotonic() - begun:.0f} s)"
    print(f"{pair}, {name}: {said}", flush=True)
    return (pair, name, said, is_fine)


def _print(rows: list[tuple[Pair, str, str, bool]]) -> None:
    print("\n| Django | Python | step | result |\n|---|---|---|---|")
    for pair, name, said, _ in rows:
        print(f"| {pair.django} | {pair.python} | {name} | {said} |")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
