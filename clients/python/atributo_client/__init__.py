"""Talk to an Atributo site from any Python program, sync and async. All errors are in `errors`."""

from atributo_client.client import AsyncClient, Client
from atributo_client.failures import (
    AtributoError,
    InDoubt,
    JobFailed,
    NoAnswer,
    NotYet,
    Unreachable,
)
from atributo_client.resources.documents import Document
from atributo_client.retries import Retries
from atributo_client.steps import PageOf
from atributo_client.stream import Message

__all__ = [
    "AsyncClient",
    "AtributoError",
    "Client",
    "Document",
    "InDoubt",
    "JobFailed",
    "Message",
    "NoAnswer",
    "NotYet",
    "PageOf",
    "Retries",
    "Unreachable",
]
