"""What did not come up, and the last that was heard of it."""

from pathlib import Path

from allocation.errors import AtributoError


class NotUp(AtributoError):
    code = "not_up"


def not_up(name: str, log_path: Path) -> NotUp:
    lines = log_path.read_text(errors="replace").splitlines()[-15:] if log_path.exists() else []
    return NotUp("\n".join([f"{name} did not come up; the last lines of {log_path}:", *lines]))
