"""/batches: jobs that belong together, by REST; and what waits for what."""

from typing import Any

import django_filters
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import StrictSerializer, checked
from queues.api.job_serializers import MOST_AT_ONCE, JobReason, NewJob, ScriptName
from queues.api.jobs import job_or_404
from queues.errors import InvalidJobId
from queues.jobs import batches
from queues.jobs.batch_blocks import Block
from queues.jobs.handles import parsed_id
from queues.models import Batch
from queues.queries.batches import STATES, batch_dict, links_of


class JobOfBatch(NewJob):
    """One of many jobs that are pushed with their batch, all or none."""

    batch = None  # type: ignore[assignment]
    transaction = None  # type: ignore[assignment]
    debounce = None  # type: ignore[assignment]
    label = serializers.CharField(  # type: ignore[assignment]
        required=False, max_length=255, help_text="A name that `after` of the others may use."
    )
    queue = serializers.CharField(
        required=False, max_length=255, help_text="If it is another one than that of the batch."
    )


class NewBatch(StrictSerializer):
    """`done` is called once when all jobs are complete, `failed` when all ended and some failed."""

    queue = serializers.CharField(max_length=255, help_text="Of its callbacks, and of its jobs.")
    name = serializers.CharField(required=False, max_length=255, allow_blank=True, default="")
    done = ScriptName(required=False)
    failed = ScriptName(required=False)
    jobs = serializers.ListField(
        child=JobOfBatch(),
        required=False,
        max_length=MOST_AT_ONCE,
        help_text="All of its jobs. Without this, it is open: push into it, and close it.",
    )


class BatchCounts(serializers.Serializer):
    """How many jobs a batch has, by state."""

    total = serializers.IntegerField()

    def get_fields(self) -> Any:
        counts = {state: serializers.IntegerField() for state in STATES}
        return {**super().get_fields(), **counts}


class JobBatchSerializer(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField()
    queue = serializers.CharField()
    state = serializers.ChoiceField(Batch.State.values)
    done = ScriptName(allow_null=True)
    failed = ScriptName(allow_null=True)
    jobs = BatchCounts()
    percent = serializers.FloatField(help_text="How much of it has ended.")
    callback = serializers.CharField(allow_null=True, help_text="The job that its end has pushed.")
    restarts = serializers.IntegerField(help_text="How often it went on after its end.")
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Any) -> Any:
        return super().to_representation(batch_dict(instance))


class NewBatchId(serializers.Serializer):
    id = serializers.CharField()
    jobs = serializers.ListField(child=serializers.CharField(), help_text="Ids of its jobs.")


class ChangedBatch(serializers.Serializer):
    changed = serializers.IntegerField()
    refused = serializers.DictField(
        child=serializers.CharField(), help_text="Jobs that were not, each with the reason."
    )


class LinkedJob(serializers.Serializer):
    id = serializers.CharField()
    script = serializers.CharField(help_text="Empty if the job is deleted.")
    state = serializers.CharField()
    even_if_failed = serializers.BooleanField()


class JobLinks(serializers.Serializer):
    after = LinkedJob(many=True, help_text="The jobs that it waits for, or waited for.")
    before = LinkedJob(many=True, help_text="The jobs that wait for it, or waited.")


class BatchFilter(django_filters.FilterSet):
    queue = django_filters.CharFilter(field_name="queue__name")
    state = django_filters.MultipleChoiceFilter(choices=Batch.State.choices)

    class Meta:
        model = Batch
        fields: list[str] = []


class Batches(ListEndpoint):
    """List batches, newest first."""

    actions = {"GET": "job.view", "POST": "job.push"}
    serializer_class = JobBatchSerializer
    filterset_class = BatchFilter
    queryset = Batch.objects.select_related("queue")
    ordering = "-id"

    @extend_schema(operation_id="batches_push", request=NewBatch, responses={201: NewBatchId})
    def post(self, request: Request) -> Response:
        """Push a batch with all of its jobs, or none; without `jobs`, open one."""
        given = checked(NewBatch, request.data)
        jobs = given.pop("jobs", None)
        if jobs is None:
            return Response({"id": str(batches.open_batch(**given).pk), "jobs": []}, status=201)
        block = Block(**given)
        ids = collect(block, jobs)
        block.store()
        return Response({"id": block.id, "jobs": ids}, status=201)


class OneBatch(Endpoint):
    actions = {"GET": "job.view"}

    @extend_schema(operation_id="batches_get", responses=JobBatchSerializer)
    def get(self, request: Request, batch_id: str) -> Response:
        return Response(JobBatchSerializer(batch_or_404(batch_id)).data)


class Close(Endpoint):
    actions = {"POST": "job.push"}

    @extend_schema(operation_id="batches_close", request=None, responses=JobBatchSerializer)
    def post(self, request: Request, batch_id: str) -> Response:
        """Let no more jobs in, so that it can end; one that is closed stays as it is."""
        batches.close(number_of(batch_id))
        return Response(JobBatchSerializer(batch_or_404(batch_id)).data)


class Retry(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="batches_retry", request=None, responses=ChangedBatch)
    def post(self, request: Request, batch_id: str) -> Response:
        """Start its failed jobs over; it goes on, and calls back when it ends again."""
        done = batches.retry_failed(number_of(batch_id))
        return Response({"changed": done.changed, "refused": done.refused})


class Abort(Endpoint):
    actions = {"POST": "job.operate"}

    @extend_schema(operation_id="batches_abort", request=JobReason, responses=ChangedBatch)
    def post(self, request: Request, batch_id: str) -> Response:
        """Abort its jobs that have not ended, and close it."""
        reason = checked(JobReason, request.data)["reason"]
        done = batches.abort_rest(number_of(batch_id), reason=reason)
        return Response({"changed": done.changed, "refused": done.refused})


class Links(Endpoint):
    actions = {"GET": "job.view"}

    @extend_schema(operation_id="jobs_links", responses=JobLinks)
    def get(self, request: Request, job_id: str) -> Response:
        """List the jobs that it waits for, and those that wait for it, up to 100 of each."""
        return Response(links_of(job_or_404(job_id).pk, database_now()))


def collect(block: Block, jobs: list[dict[str, Any]]) -> list[str]:
    """Put jobs as REST and the command take them into a batch that is not stored yet."""
    ids = []
    for job in jobs:
        options = {name: value for name, value in job.items() if value is not None}
        queue = options.pop("queue", block.queue)
        script, data = options.pop("script"), options.pop("data", None)
        label = options.pop("label", None)
        ids += block.collect(queue, script, [data], options, label)
    return ids


def batch_or_404(batch_id: str) -> Batch:
    batch = Batch.objects.select_related("queue").filter(pk=number_of(batch_id)).first()
    if batch is None:
        raise batches.missing(batch_id)
    return batch


def number_of(batch_id: str) -> int:
    try:
        return parsed_id(batch_id)
    except InvalidJobId:
        raise batches.missing(batch_id) from None
