"""A backend is one address and port behind a name; its key never changes."""

import base64
import hashlib
import ipaddress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backend:
    name: str
    address: str
    port: int
    key: str
    priority: int = 0
    weight: int = 0

    @property
    def authority(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.port}"

    @property
    def where(self) -> str:
        """Return what people read: the name, if it says more, and where it is."""
        authority = self.authority
        is_plain = self.name in (authority, f"{self.address}:{self.port}")
        return authority if is_plain else f"{self.name} ({authority})"


def make_backend(
    name: str, address: str, port: int, priority: int = 0, weight: int = 0, compat: bool = False
) -> Backend:
    key = backend_key(name, port, address, compat)
    return Backend(name, address, port, key, priority, weight)


def static_backend(
    address: str, port: int, name: str | None = None, priority: int = 0, weight: int = 0
) -> Backend:
    """Make a backend from a given address; its key does not depend on the spelling."""
    canonical = str(ipaddress.ip_address(address))
    return make_backend(name or f"{canonical}:{port}", canonical, port, priority, weight)


def backend_key(name: str, port: int, address: str, compat: bool = False) -> str:
    """Return a short fingerprint; `compat` does not fold the case of the name."""
    if not compat:
        name = name.lower().rstrip(".")
    text = f"{name}||{port}||{normalize_address(address)}"
    return base64.b64encode(hashlib.sha1(text.encode(), usedforsecurity=False).digest()).decode()


def normalize_address(address: str) -> str:
    """Write IPv4 dotted, and IPv6 as eight groups without leading zeros and without `::`."""
    parsed = ipaddress.ip_address(address)
    if parsed.version == 4:
        return str(parsed)
    scope = f"%{parsed.scope_id}" if parsed.scope_id else ""
    packed = parsed.packed
    groups = (packed[i] << 8 | packed[i + 1] for i in range(0, 16, 2))
    return ":".join(f"{group:x}" for group in groups) + scope


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
