"""/jobs and /queues/{q}/jobs: queued jobs by REST."""

from contextlib import nullcontext
from typing import Any

import django_filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.strict_serializer import StrictSerializer
from queues import catalogue, outbox, pausing, steering
from queues.errors import JobNotFound
from queues.handles import parsed_id
from queues.models import QueuedJob
from queues.models.job import CHOICES
from queues.models.job import REPEATING as REPEATS
from queues.push import push, push_many
from queues.repeating import INDEXED as REPEATING
from queues.shown import attempts_shown, job_shown
from queues.waiting import waiting_said

MOST_AT_ONCE = 10_000
ANY_JSON: dict[str, Any] = {"description": "Any JSON value."}


class ScriptName(StrictSerializer):
    mount = serializers.CharField(max_length=255)
    name = serializers.CharField(max_length=128)


class Options(StrictSerializer):
    """Numbers are milliseconds; negative counts mean for ever."""

    script = ScriptName()
    delay_until = serializers.DateTimeField(required=False)
    delay = serializers.IntegerField(required=False, min_value=0)
    back_off = serializers.JSONField(required=False, help_text="ms, strategy or script")
    max_failures = serializers.IntegerField(required=False)
    repeat_times = serializers.IntegerField(required=False)
    repeat_until = serializers.DateTimeField(required=False, allow_null=True)
    repeat_delay = serializers.IntegerField(required=False, min_value=0)
    timeout = serializers.IntegerField(required=False, min_value=1)
    success = ScriptName(required=False)
    failure = ScriptName(required=False)
    priority = serializers.IntegerField(required=False, min_value=-2, max_value=2)
    sticky_key = serializers.CharField(required=False, max_length=255, trim_whitespace=False)

    def validate_back_off(self, value: Any) -> Any:
        if isinstance(value, dict) and "function" in value:
            raise serializers.ValidationError("A function is named in Python only.")
        return value


class NewJob(Options):
    data = serializers.JSONField(  # type: ignore[assignment]
        required=False, allow_null=True, default=None
    )
    unique_key = serializers.CharField(required=False, max_length=255, trim_whitespace=False)
    transaction = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        help_text="The job appears when this transaction completes, and never otherwise.",
    )


class NewJobs(Options):
    data = serializers.ListField(  # type: ignore[assignment]
        child=serializers.JSONField(allow_null=True), max_length=MOST_AT_ONCE
    )


class JobId(serializers.Serializer):
    id = serializers.CharField()


class JobIds(serializers.Serializer):
    ids = serializers.ListField(child=serializers.CharField())


class QueuedJobSerializer(serializers.Serializer):
    id = serializers.CharField()
    queue = serializers.CharField()
    script = ScriptName()
    status = serializers.ChoiceField([value for value, _ in CHOICES])
    data = serializers.JSONField()  # type: ignore[assignment]
    result = serializers.JSONField()
    error = serializers.CharField()
    attempt = serializers.IntegerField()
    run = serializers.CharField(help_text="For example «2 of 4».")
    runs = serializers.IntegerField(help_text="Finished runs.")
    run_failures = serializers.IntegerField()
    max_failures = serializers.IntegerField()
    repeat_times = serializers.IntegerField()
    repeat_delay = serializers.IntegerField()
    repeat_until = serializers.DateTimeField(allow_null=True)
    paused = serializers.BooleanField()
    paused_by = serializers.CharField()
    pause_reason = serializers.CharField()
    back_off = serializers.JSONField()
    timeout = serializers.IntegerField(allow_null=True)
    success = serializers.JSONField()
    failure = serializers.JSONField()
    priority = serializers.IntegerField()
    unique_key = serializers.CharField(allow_null=True)
    sticky_key = serializers.CharField(allow_null=True)
    instance = serializers.CharField(allow_null=True, help_text="Where its key is allocated.")
    instance_epoch = serializers.IntegerField(allow_null=True)
    waits_for = serializers.CharField(help_text="Of a sticky job that waits; otherwise empty.")
    pushed_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    delay_until = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Any) -> Any:
        is_sticky = instance.sticky_key is not None
        said = waiting_said(instance, database_now()) if is_sticky else ""
        return {**job_shown(instance, instance.schema()), "waits_for": said}


class AttemptSerializer(serializers.Serializer):
    attempt = serializers.IntegerField()
    run = serializers.IntegerField()
    worker = serializers.CharField()
    outcome = serializers.CharField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    error = serializers.CharField()
    traceback = serializers.CharField()
    percent = serializers.FloatField(allow_null=True)
    note = serializers.CharField()
    transactions = serializers.ListField(child=serializers.IntegerField())
    log = serializers.ListField(child=serializers.DictField())


class JobFilter(django_filters.FilterSet):
    queue = django_filters.CharFilter(field_name="queue__name")
    status = django_filters.MultipleChoiceFilter(choices=CHOICES)
    mount = django_filters.CharFilter()
    script = django_filters.CharFilter()
    fingerprint = django_filters.CharFilter()
    repeating = django_filters.BooleanFilter(
        method="only_repeating", label="Unfinished jobs that repeat."
    )

    def only_repeating(self, jobs: Any, name: str, wanted: bool) -> Any:
        return jobs.extra(where=[REPEATING]) if wanted else jobs.exclude(REPEATS)

    class Meta:
        model = QueuedJob
        fields: list[str] = []


@extend_schema_view(get=extend_schema(operation_id="jobs_list"))
class Jobs(ListEndpoint):
    """Every job, newest first."""

    actions = {"GET": "job.view"}
    serializer_class = QueuedJobSerializer
    filterset_class = JobFilter
    queryset = QueuedJob.objects.visible().select_related("queue")
    ordering = "-id"


@extend_schema_view(get=extend_schema(operation_id="queues_jobs_list"))
class QueueJobs(Jobs):
    actions = {"GET": "job.view", "POST": "job.push"}

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        return super().get_queryset().filter(queue=catalogue.row(self.kwargs["queue"]))

    @extend_schema(operation_id="queues_jobs_push", request=NewJob, responses={201: JobId})
    def post(self, request: Request, queue: str) -> Response:
        given = _given(NewJob, request)
        script, data = given.pop("script"), given.pop("data")
        transaction = given.pop("transaction", None)
        with outbox.holding(transaction) if transaction else nullcontext():
            job_id = push(queue, script, data, given, using="default")
        return Response({"id": job_id}, status=201)


class Batch(Endpoint):
    actions = {"POST": "job.push"}

    @extend_schema(operation_id="queues_jobs_push_many", request=NewJobs, responses={201: JobIds})
    def post(self, request: Request, queue: str) -> Response:
        """All or none, in the order given."""
        given = _given(NewJobs, request)
        script, data = given.pop("script"), given.pop("data")
        ids = push_many(queue, script, data, given, using="default")
        return Response({"ids": ids}, status=201)


class OneJob(Endpoint):
    actions = {"GET": "job.view", "DELETE": "job.operate"}

    @extend_schema(operation_id="jobs_get", responses=QueuedJobSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        return Response(QueuedJobSerializer(found(job_id)).data)

    @extend_schema(operation_id="jobs_delete", request=None, responses={204: None})
    def delete(self, request: Request, job_id: str) -> Response:
        steering.delete(found(job_id).pk)
        return Response(status=204)


class Attempts(Endpoint):
    actions = {"GET": "job.view"}

    @extend_schema(operation_id="jobs_attempts", responses=AttemptSerializer(many=True))
    def get(self, request: Request, job_id: str) -> Response:
        """Its last 100 attempts, oldest first, with their log lines."""
        return Response(attempts_shown(found(job_id)))


class Abort(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_abort", request=None, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """An unfinished job ends as failed, without callback; a finished one stays as it is."""
        steering.abort(parsed_id(job_id))
        return Response(QueuedJobSerializer(found(job_id)).data)


class Retry(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_retry", request=None, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """A finished job runs again; a waiting one at once."""
        steering.reset(found(job_id).pk)
        return Response(QueuedJobSerializer(found(job_id)).data)


class RunNow(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_run_now", request=None, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """A waiting job becomes due."""
        steering.run_now(found(job_id).pk)
        return Response(QueuedJobSerializer(found(job_id)).data)


class PauseReason(StrictSerializer):
    reason = serializers.CharField(required=False, max_length=255, default="", allow_blank=True)


class Pause(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_pause", request=PauseReason, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """A job that repeats starts no more until it is resumed; a run that is under way ends."""
        pausing.pause(parsed_id(job_id), **_given(PauseReason, request))
        return Response(QueuedJobSerializer(found(job_id)).data)


class Resume(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="jobs_resume", request=None, responses=QueuedJobSerializer)
    def post(self, request: Request, job_id: str) -> Response:
        """It goes on with the next moment of its own rhythm."""
        pausing.resume(parsed_id(job_id))
        return Response(QueuedJobSerializer(found(job_id)).data)


def found(job_id: str) -> QueuedJob:
    job = QueuedJob.objects.select_related("queue").filter(pk=parsed_id(job_id)).first()
    if job is None:
        raise JobNotFound(f"Job does not exist: {job_id}", job=job_id)
    return job


def _given(serializer: type[StrictSerializer], request: Request) -> dict[str, Any]:
    body = serializer(data=request.data)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)
