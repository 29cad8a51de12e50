"""A traceback without the frames of the engine: what is left is the script's own."""

import re

FRAME = re.compile(r'  File "')
LIBRARY = re.compile(r'  File "[^"]*[/\\]lib[/\\]python3')
OURS = re.compile(r'  File "[^"]*[/\\]queues[/\\](execution|bundle|context|scripts)\.py"')


def of_the_script(traceback: str) -> str:
    """Empty where no frame is the script's, or where that is the whole."""
    kept, is_ours = [], False
    for line in traceback.splitlines(keepends=True):
        if FRAME.match(line):
            is_ours = OURS.match(line) is not None
        elif not line.startswith("  ") and line.strip():  # a heading or the error
            is_ours = False
        if not is_ours:
            kept.append(line)
    shown = "".join(kept)
    has_own = any(FRAME.match(line) and not LIBRARY.match(line) for line in kept)
    return shown if has_own and shown != traceback else ""
