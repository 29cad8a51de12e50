"""Mounts in addresses: /services/mailer/ is the service at /mailer."""

from django.urls import register_converter

PART = "[A-Za-z_][A-Za-z0-9_%-]*"


class MountConverter:
    """No part of a mount is «-», which therefore may follow one."""

    regex = f"{PART}(?:/{PART})*"

    def to_python(self, value: str) -> str:
        return f"/{value}"

    def to_url(self, value: str) -> str:
        return value.removeprefix("/")


register_converter(MountConverter, "mount")
