"""Run the benchmarks one after the other, each as `python -m bench.NAME`."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - set(names())
    if unknown:
        known = ", ".join(names())
        print(f"no benchmark is called {', '.join(sorted(unknown))}; there are {known}")
        return 2
    ended = [_run(name) for name in wanted or names()]
    return max(ended, default=0)


def _run(name: str) -> int:
    print(f"== {name}", flush=True)
    return subprocess.run([sys.executable, "-m", f"bench.{name}"], cwd=FOLDER.parent).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
