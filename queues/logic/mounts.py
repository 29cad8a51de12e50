"""Mounts: where a service is installed, and the prefix of its data.

The functions of a module are shown as a service, too; its mount is the name of the module.
"""

import re

SEGMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_%-]*\Z")
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z")
LONGEST = 255


def is_module(mount: str) -> bool:
    """Return whether it names a module of declared functions instead of a folder."""
    return MODULE.match(mount) is not None and len(mount) <= LONGEST


def mount_error(mount: str) -> str | None:
    """Return why a service cannot be mounted there, or None."""
    if not mount.startswith("/") or len(mount) > LONGEST:
        return f"a mount starts with a slash and has at most {LONGEST} characters: {mount!r}"
    segments = mount[1:].split("/")
    if not all(SEGMENT.match(segment) for segment in segments):
        return (
            f"every part of a mount has letters, digits, _, - and %, and begins with a letter "
            f"or _: {mount!r}"
        )
    if segments[0].startswith("_") and not (segments[0] == "_open" and len(segments) > 1):
        return f"a mount must not begin with /_: {mount!r}"
    if any(segment.lower() == "app" for segment in segments):
        return f"a mount must not have a part named app: {mount!r}"
    return None


def prefix(mount: str) -> str:
    """`/my-service/v1` → `my_service_v1_`."""
    return re.sub(r"[-.:/]", "_", mount.removeprefix("/")) + "_"


def title(name: str) -> str:
    """`send-mail` → `Send Mail`."""
    return " ".join(part[:1].upper() + part[1:] for part in re.split(r"[-_\s]+", name) if part)
