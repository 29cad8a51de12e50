"""Run the benchmarks one after the other, each as `python -m bench.NAME`.

python -m bench                          all of them
python -m bench allocation documents     these
python -m bench many_at_once sleep ours  one, with words that it understands
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def main(wanted: list[str]) -> int:
    if wanted and wanted[0] not in names():
        print(f"no benchmark is called {wanted[0]}; there are {', '.join(names())}")
        return 2
    if set(wanted) <= set(names()):
        return max([_run(name) for name in wanted or names()], default=0)
    return _run(*wanted)


def _run(name: str, *words: str) -> int:
    print(f"== {name}", flush=True)
    command = [sys.executable, "-m", f"bench.{name}", *words]
    return subprocess.run(command, cwd=FOLDER.parent).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
