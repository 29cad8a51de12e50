"""Remove the outbox if it is empty; mails stay."""

from contextlib import suppress
from pathlib import Path


def run(context):
    with suppress(OSError):  # not empty, or never made
        Path(context.service.configuration["outbox"]).rmdir()
