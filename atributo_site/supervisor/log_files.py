"""Log files of the children: each grows to a size and is then kept once more as NAME.log.1."""

import os
import shutil
from pathlib import Path

LARGEST_LOG_BYTES = 10 * 1024 * 1024


def keep_small(path: Path, largest: int = LARGEST_LOG_BYTES) -> None:
    """Copied and emptied, not renamed: who writes it goes on at the end of the same file."""
    if path.exists() and path.stat().st_size > largest:
        shutil.copyfile(path, path.with_suffix(".log.1"))
        os.truncate(path, 0)
