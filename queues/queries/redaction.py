"""Decide what of a job is hidden: what its script's schema marks, and its service's passwords."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from atributo_site.core import redaction
from queues.logic import secret_fields
from queues.models import QueuedJob, Script


@dataclass(frozen=True)
class Hiding:
    """Names of members that are secret beside those that look so, and texts that are secret."""

    names: set[str]
    texts: set[str]

    def data(self, data: Any) -> Any:
        return redaction.hidden(data, self.names)

    def result(self, result: Any, data: Any) -> Any:
        """Mask what is hidden in the data or in the configuration of the service, too."""
        return redaction.without(redaction.hidden(result, self.names), self.met_with(data))

    def met_with(self, data: Any) -> set[str]:
        """Return the secret texts that a run with this data could meet."""
        return self.texts | redaction.secrets_in(data, self.names)


def hiding(scripts: Iterable[Script]) -> Hiding:
    names: set[str] = set()
    texts: set[str] = set()
    for script in scripts:
        service = script.service
        names |= secret_fields.secret_names(script.schema)
        texts |= redaction.secrets_in(
            service.settings(), secret_fields.passwords_of(service.definitions)
        )
    return Hiding(names, texts)


def hiding_of(job: QueuedJob) -> Hiding:
    """Return what to hide by the installed script; a callback holds the data of another job."""
    its = Q(service__mount=job.mount, name=job.script)
    if origin := secret_fields.origin(job.data):
        mount, name = origin
        its |= Q(service__mount=mount, name=name)
    return hiding(Script.objects.filter(its).select_related("service"))
