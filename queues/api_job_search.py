"""REST: the search of the page «Jobs», for lists of queued jobs."""

from typing import Any

from django.http import QueryDict
from rest_framework import serializers

from allocation.models.clock import database_now
from atributo_site.rest.strict_serializer import checked
from queues.api_operations import QuerySerializer, stored
from queues.operations import matching


class JobSearch(QuerySerializer):
    """Looks through the newest 10,000 jobs where no index answers, as the page does."""

    fingerprint = None  # type: ignore[assignment]  # a filter of every list of jobs
    upto = serializers.IntegerField(
        required=False, min_value=0, help_text="No newer job than this; to look further back."
    )


NAMES = tuple(JobSearch().fields)


def searched(jobs: Any, asked: QueryDict) -> Any:
    """`jobs` as they are unless a search is asked for."""
    given = {name: asked[name] for name in NAMES if asked.get(name)}
    if not given:
        return jobs
    query = {**checked(JobSearch, given), "fingerprint": asked.get("fingerprint", "")}
    newest = query.pop("upto", None)
    return matching(stored(query), database_now(), newest).jobs.select_related("queue")
