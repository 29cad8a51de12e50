"""Give ten thousand awkward characters to every parser and every text box.

Goal: each takes at most 100 ms of a processor, on SQLite with a row of everything. The exit code is
1 when one takes longer.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "ATRIBUTO_ENV": "test",
            "ATRIBUTO_VAR_DIR": folder,
            "ATRIBUTO_LOG_LEVEL": "ERROR",
            "ATRIBUTO_REQUESTS_PER_MINUTE": "1000000",
            "DATABASE_URL": f"sqlite:///{folder}/long.sqlite3",
            "REDIS_URL": "unix:///nowhere",
        }
        environment = {**os.environ, **settings}
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
        command = [sys.executable, "-m", "bench.parts.long_texts"]
        return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
