"""/jobs and /queues/{q}/jobs: queued jobs by REST, with the search of the page "Jobs"."""

from contextlib import nullcontext
from typing import Any

import django_filters
from django.http import QueryDict
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.transactions.api.callers import own
from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import checked, checked_query
from queues import audited, catalogue
from queues.api.job_serializers import (
    AttemptSerializer,
    CancelledJob,
    JobId,
    JobIds,
    JobReason,
    KeyToCancel,
    NewJob,
    NewJobs,
    QueuedJobSerializer,
    ScheduleChanges,
)
from queues.api.operations import QuerySerializer, stored
from queues.errors import JobNotFound
from queues.jobs import actions
from queues.jobs.handles import parsed_id
from queues.jobs.operations import matching
from queues.jobs.repeating import INDEXED as REPEATING
from queues.jobs.repeating import reschedule
from queues.models import QueuedJob
from queues.models.job import CHOICES
from queues.models.job import REPEATING as REPEATS
from queues.queries.presenters import attempt_dicts
from queues.runs import outbox


class JobSearch(QuerySerializer):
    """It looks through the newest 10,000 jobs where no index answers, as the page does."""

    fingerprint = None  # type: ignore[assignment]  # a filter of every list of jobs
    upto = serializers.IntegerField(
        required=False, min_value=0, help_text="No newer job than this; to look further back."
    )


NAMES = tuple(JobSearch().fields)


def searched(jobs: Any, asked: QueryDict) -> Any:
    """Return `jobs` as they are, unless a search is asked for."""
    given = {name: asked[name] for name in NAMES if asked.get(name)}
    if not given:
        return jobs
    query = {**checked_query(JobSearch, given), "fingerprint": asked.get("fingerprint", "")}
    newest = query.pop("upto", None)
    return matching(stored(query), database_now(), newest).jobs.select_related("queue")


class JobFilter(django_filters.FilterSet):
    queue = django_filters.CharFilter(field_name="queue__name")
    status = django_filters.MultipleChoiceFilter(choices=CHOICES)
    mount = django_filters.CharFilter()
    script = django_filters.CharFilter()
    fingerprint = django_filters.CharFilter()
    batch = django_filters.CharFilter(method="of_batch", label="Jobs of this batch.")
    repeating = django_filters.BooleanFilter(
        method="only_repeating", label="Unfinished jobs that repeat."
    )

    def of_batch(self, jobs: Any, name: str, wanted: str) -> Any:
        return jobs.filter(batch=parsed_id(wanted))

    def only_repeating(self, jobs: Any, name: str, wanted: bool) -> Any:
        return jobs.extra(where=[REPEATING]) if wanted else jobs.exclude(REPEATS)  # nosec B610 # a constant condition

    class Meta:
        model = QueuedJob
        fields: list[str] = []


@extend_schema_view(get=extend_schema(operation_id="jobs_list", parameters=[JobSearch]))
class Jobs(ListEndpoint):
    """List every job, newest first, or those that the search of the page "Jobs" finds."""

    actions = {"GET": "job.view"}
    serializer_class = QueuedJobSerializer
    filterset_class = JobFilter
    more_filters = NAMES
    queryset = QueuedJob.objects.visible().select_related("queue")
    ordering = "-id"

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        return searched(super().get_queryset(), self.request.query_params)


@extend_schema_view(get=extend_schema(operation_id="queues_jobs_list", parameters=[JobSearch]))
class QueueJobs(Jobs):
    actions = {"GET": "job.view", "POST": "job.push"}
    in_a_hurry = True

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        return super().get_queryset().filter(queue=catalogue.row(self.kwargs["queue"]))

    @extend_schema(operation_id="queues_jobs_push", request=NewJob, responses={201: JobId})
    def post(self, request: Request, queue: str) -> Response:
        given = checked(NewJob, request.data)
        script, data = given.pop("script"), given.pop("data")
        transaction = given.pop("transaction", None)
        with outbox.holding(own(request, transaction).pk) if transaction else nullcontext():
            job_id = audited.push(queue, script, data, given)
        return Response({"id": job_id}, status=201)


class Batch(Endpoint):
    actions = {"POST": "job.push"}
    in_a_hurry = True

    @extend_schema(operation_id="queues_jobs_push_many", request=NewJobs, responses={201: JobIds})
    def post(self, request: Request, queue: str) -> Response:
        """Push all of them in the order given, or none."""
        given = checked(NewJobs, request.data)
        script, data = given.pop("script"), given.pop("data")
        ids = audited.push_many(queue, script, data, given)
        return Response({"ids": ids}, status=201)


class Cancel(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="queues_jobs_cancel", request=KeyToCancel, responses=CancelledJob)
    def post(self, request: Request, queue: str) -> Response:
        """Abort the unfinished job with this unique key; `id` is null if there is none."""
        given = checked(KeyToCancel, request.data)
        name = catalogue.row(queue).name
        job_id = catalogue.get(name).cancel(given["unique_key"], reason=given["reason"])
        return Response({"id": job_id})


class OneJob(Endpoint):
    actions = {"GET": "job.view", "PATCH": "job.operate", "DELETE": "job.operate"}

    @extend_schema(operation_id="jobs_get", responses=QueuedJobSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        return Response(QueuedJobSerializer(job_or_404(job_id)).data)

    @extend_schema(
        operation_id="jobs_reschedule", request=ScheduleChanges, responses=QueuedJobSerializer
    )
    def patch(self, request: Request, job_id: str) -> Response:
        """Change the schedule of a job that repeats and waits; one that runs or is over is 409."""
        reschedule(parsed_id(job_id), checked(ScheduleChanges, request.data))
        return Response(QueuedJobSerializer(job_or_404(job_id)).data)

    @extend_schema(operation_id="jobs_delete", request=None, responses={204: None})
    def delete(self, request: Request, job_id: str) -> Response:
        actions.delete(job_or_404(job_id).pk)
        return Response(status=204)


class Attempts(Endpoint):
    actions = {"GET": "job.view"}

    @extend_schema(operation_id="jobs_attempts", responses=AttemptSerializer(many=True))
    def get(self, request: Request, job_id: str) -> Response:
        """List its last 100 attempts, oldest first, with their log lines."""
        return Response(attempt_dicts(job_or_404(job_id)))


class Abort(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_abort", request=JobReason, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """End an unfinished job as failed, without callback; a finished one stays as it is."""
        actions.abort(parsed_id(job_id), **checked(JobReason, request.data))
        return Response(QueuedJobSerializer(job_or_404(job_id)).data)


class Retry(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_retry", request=None, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """Run a finished job again, a waiting one at once."""
        actions.reset(job_or_404(job_id).pk)
        return Response(QueuedJobSerializer(job_or_404(job_id)).data)


class RunNow(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_run_now", request=None, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """Make a waiting job due."""
        actions.run_now(job_or_404(job_id).pk)
        return Response(QueuedJobSerializer(job_or_404(job_id)).data)


class Pause(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_pause", request=JobReason, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """Start no more runs of a job that repeats until it is resumed; a current run ends."""
        actions.pause(parsed_id(job_id), **checked(JobReason, request.data))
        return Response(QueuedJobSerializer(job_or_404(job_id)).data)


class Resume(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_resume", request=None, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """Go on with the next moment of its own rhythm."""
        actions.resume(parsed_id(job_id))
        return Response(QueuedJobSerializer(job_or_404(job_id)).data)


def job_or_404(job_id: str) -> QueuedJob:
    job = QueuedJob.objects.select_related("queue").filter(pk=parsed_id(job_id)).first()
    if job is None:
        raise JobNotFound(f"Job does not exist: {job_id}", job=job_id)
    return job
