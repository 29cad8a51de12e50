"""Make the outbox if it does not exist."""

from pathlib import Path


def run(context):
    outbox = Path(context.service.configuration["outbox"])
    outbox.mkdir(parents=True, exist_ok=True)
    context.log(f"the outbox is {outbox}")
