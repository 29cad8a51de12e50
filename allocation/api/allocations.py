"""REST: allocate, look up, deallocate; batches, plans and explanations."""

from collections.abc import Callable
from functools import partial
from typing import Any

import django_filters
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import ParseError, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.api.instances import IF_MATCH, IF_NONE_MATCH
from allocation.atributo import Allocated
from allocation.errors import EpochChanged, NoInstances, UnknownJob
from allocation.logic.instance_settings import LONGEST_TEXT
from allocation.models import Allocation, Rebalance
from allocation.placement import operations, plans, rebalance
from allocation.placement.explain import explain
from atributo_site.core.errors import AtributoError, InvalidId
from atributo_site.core.ids import refusal, valid_id
from atributo_site.core.retry import retry_busy
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.permission import allowed
from atributo_site.rest.preconditions import (
    PreconditionFailed,
    etag,
    must_be_new,
    required_epoch,
)
from atributo_site.rest.serializers import StrictSerializer, checked

MOST_JOBS = 1000
LABELS_HELP = "Only instances with these labels are chosen, now and when the key moves."


class AllocationSerializer(serializers.ModelSerializer):
    instance_id = serializers.CharField()
    labels = serializers.DictField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Labels that the key requires of its instance.",
    )

    class Meta:
        model = Allocation
        fields = ["job_id", "instance_id", "epoch", "allocated_at", "strategy", "candidates"]
        fields += ["score", "actor", "channel", "labels"]


class AllocatedSerializer(serializers.Serializer):
    job_id = serializers.CharField()
    instance_id = serializers.CharField()
    persisted = serializers.BooleanField(help_text="Whether this request stored it.")


class LabelsField(serializers.DictField):
    """Labels that the job asks of its instance."""

    def __init__(self, **options: Any) -> None:
        child = serializers.CharField(max_length=LONGEST_TEXT, allow_blank=True)
        super().__init__(child=child, required=False, help_text=LABELS_HELP, **options)


class AskedLabelsSerializer(StrictSerializer):
    labels = LabelsField()


class AllocationFilters(django_filters.FilterSet):
    instance = django_filters.CharFilter(field_name="instance_id", max_length=255)
    prefix = django_filters.CharFilter(method="starting_with", max_length=255)

    class Meta:
        model = Allocation
        fields: list[str] = []

    def starting_with(self, rows: Any, name: str, value: str) -> Any:
        return rows.starting_with(value)


class Allocations(ListEndpoint):
    """Allocations by key."""

    actions = {"GET": "allocation.view"}
    queryset = Allocation.objects.all()
    serializer_class = AllocationSerializer
    filterset_class = AllocationFilters


class OneAllocation(Endpoint):
    actions = {
        "GET": "allocation.view",
        "PUT": "allocation.operate",
        "DELETE": "allocation.operate",
    }

    @extend_schema(operation_id="allocations_one", responses=AllocationSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        row = Allocation.objects.filter(pk=valid_id(job_id)).first()
        if row is None:
            raise UnknownJob(f"{job_id} is not allocated", job_id=job_id)
        return Response(AllocationSerializer(row).data, headers={"ETag": etag(row.epoch)})

    @extend_schema(
        request=AskedLabelsSerializer,
        responses={200: AllocatedSerializer, 201: AllocatedSerializer},
        parameters=[IF_MATCH, IF_NONE_MATCH],
    )
    def put(self, request: Request, job_id: str) -> Response:
        """The job's instance: 201 when it was placed now, 200 when it had one."""
        labels = _asked_for(request)
        _check_epoch(valid_id(job_id), _required_epoch(request, job_id, creates=True))
        allocated = operations.allocate(job_id, labels)
        if must_be_new(request) and not allocated.persisted:
            raise PreconditionFailed(f"{job_id} is on {allocated.instance_id} already")
        where, persisted = allocated.instance_id, allocated.persisted
        facts = {"job_id": job_id, "instance_id": where, "persisted": persisted}
        return Response(facts, 201 if persisted else 200)

    @extend_schema(responses={204: None}, parameters=[IF_MATCH])
    def delete(self, request: Request, job_id: str) -> Response:
        if must_be_new(request):
            raise ParseError(
                "If-None-Match: * is for PUT only: what does not exist cannot be deleted."
            )
        operations.deallocate(job_id, _required_epoch(request, job_id))
        return Response(status=204)


class Explanation(Endpoint):
    actions = {"GET": "allocation.view"}

    @extend_schema(responses={200: {"type": "object", "additionalProperties": True}})
    def get(self, request: Request, job_id: str) -> Response:
        """Where the job is and was, since when, and why there: scores of every instance."""
        return Response(explain(valid_id(job_id)))


class BatchSerializer(StrictSerializer):
    job_ids = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False, allow_blank=True),
        min_length=1,
        max_length=MOST_JOBS,
    )
    operation = serializers.ChoiceField(["allocate", "deallocate"], default="allocate")
    labels = LabelsField()

    def validate(self, wanted: Any) -> Any:
        if "labels" in wanted and wanted["operation"] == "deallocate":
            raise ValidationError("labels belong to allocate.")
        return wanted


class BatchItemSerializer(serializers.Serializer):
    job_id = serializers.CharField()
    instance_id = serializers.CharField(required=False)
    persisted = serializers.BooleanField(required=False)
    deallocated = serializers.BooleanField(required=False)
    code = serializers.CharField(required=False, help_text="Set when this item failed.")
    detail = serializers.CharField(required=False)


class BatchAnswerSerializer(serializers.Serializer):
    results = BatchItemSerializer(many=True)
    deallocated = serializers.IntegerField(required=False)


HIDDEN = {name: extend_schema(exclude=True) for name in ("get", "put", "delete")}


@extend_schema_view(**HIDDEN)
class Batch(OneAllocation):
    """Many at once; a job that is called "batch" is served here, too."""

    actions = {**OneAllocation.actions, "POST": "allocation.operate"}

    @extend_schema(request=BatchSerializer, responses=BatchAnswerSerializer)
    def post(self, request: Request, job_id: str = "") -> Response:
        wanted = checked(BatchSerializer, request.data)
        job_ids = wanted["job_ids"]
        good = list(dict.fromkeys(each for each in job_ids if refusal(each) is None))
        if wanted["operation"] == "deallocate":
            ended = operations.deallocate_many(good)
            results = _each(job_ids, partial(_ended, ended))
            return Response({"results": results, "deallocated": len(ended)})
        answers, error = operations.allocate_those_that_fit(good, wanted.get("labels"))
        return Response({"results": _each(job_ids, partial(_placed, answers, error))})


class PlanSerializer(StrictSerializer):
    drain = serializers.CharField(max_length=255, trim_whitespace=False, required=False)
    rebalance = serializers.BooleanField(required=False, help_text="False stops it.")
    moves_per_minute = serializers.IntegerField(
        min_value=1, max_value=1_000_000, required=False, help_text="Starts the rebalance."
    )
    job_ids = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False, max_length=255),
        max_length=MOST_JOBS,
        required=False,
    )
    labels = LabelsField()

    def validate(self, wanted: Any) -> Any:
        if len(wanted.keys() - {"moves_per_minute", "labels"}) != 1:
            raise ValidationError("Ask for one of drain, rebalance or job_ids.")
        if "labels" in wanted and "job_ids" not in wanted:
            raise ValidationError("labels belong to job_ids.")
        if "moves_per_minute" in wanted and not wanted.get("rebalance"):
            raise ValidationError("moves_per_minute belongs to rebalance: true.")
        return wanted


class ProgressSerializer(serializers.Serializer):
    running = serializers.BooleanField()
    stopped = serializers.BooleanField()
    since = serializers.DateTimeField()
    moves_per_minute = serializers.IntegerField()
    jobs = serializers.IntegerField()
    looked_at = serializers.IntegerField()
    moved = serializers.IntegerField()
    fraction = serializers.FloatField()


class MoveSerializer(serializers.Serializer):
    job_id = serializers.CharField()
    from_instance = serializers.CharField(source="source")
    to_instance = serializers.CharField(source="target")


class PlannedSerializer(serializers.Serializer):
    jobs = serializers.IntegerField(required=False)
    looked_at = serializers.IntegerField(required=False)
    count = serializers.IntegerField(required=False, help_text="How many would move.")
    nowhere = serializers.IntegerField(required=False)
    arrivals = serializers.DictField(child=serializers.IntegerField(), required=False)
    moves = MoveSerializer(many=True, required=False, help_text="The first hundred.")
    instances = serializers.DictField(child=serializers.CharField(allow_null=True), required=False)
    progress = ProgressSerializer(
        required=False, allow_null=True, help_text="Of the rebalance that runs, or the last one."
    )


@extend_schema_view(**HIDDEN)
class PlanMoves(OneAllocation):
    """What would move, and the rebalance; a job that is called "plan" is served here, too."""

    actions = {**OneAllocation.actions, "POST": "allocation.view"}

    @extend_schema(request=PlanSerializer, responses=PlannedSerializer)
    def post(self, request: Request, job_id: str = "") -> Response:
        facts = checked(PlanSerializer, request.data)
        if "job_ids" in facts:
            labels = facts.get("labels")
            return Response({"instances": plans.plan_jobs(facts["job_ids"], labels=labels)})
        if "drain" in facts:
            return Response(plans.plan_drain(valid_id(facts["drain"])).facts)
        if facts["rebalance"] and "moves_per_minute" not in facts:
            return Response({**plans.plan_rebalance().facts, **_progress(rebalance.last())})
        return self._rebalance(request, facts)

    def _rebalance(self, request: Request, facts: dict[str, Any]) -> Response:
        """Let everybody look at a plan, but only those with the permission move jobs."""
        if not allowed(request, "allocation.operate"):
            raise PermissionDenied
        if not facts["rebalance"]:
            return Response(_progress(retry_busy(rebalance.stop)))
        pace = facts["moves_per_minute"]
        started = retry_busy(lambda: rebalance.start(moves_per_minute=pace))
        return Response(_progress(started))


def _required_epoch(request: Request, job_id: str, *, creates: bool = False) -> int | None:
    return required_epoch(request, lambda: _epoch_of(valid_id(job_id)), creates=creates)


def _epoch_of(job_id: str) -> int | None:
    return Allocation.objects.filter(pk=job_id).values_list("epoch", flat=True).first()


def _check_epoch(job_id: str, epoch: int | None) -> None:
    """Refuse a caller who names the epoch of another placement."""
    if epoch is None:
        return
    current = _epoch_of(job_id)
    if current != epoch:
        now = "not allocated" if current is None else f"at epoch {current}"
        raise EpochChanged(f"{job_id} is {now}, not at epoch {epoch}", epoch=current)


def _progress(row: Rebalance | None) -> dict[str, Any]:
    return {"progress": None if row is None else row.facts}


def _each(job_ids: list[str], item: Callable[[str, bool], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one item per job; if a job was named twice, only the first did anything."""
    items, seen = [], set()
    for job_id in job_ids:
        why = refusal(job_id)
        failed = None if why is None else _failed(job_id, InvalidId(why))
        items.append(failed or item(job_id, job_id in seen))
        seen.add(job_id)
    return items


def _asked_for(request: Request) -> dict[str, str] | None:
    return checked(AskedLabelsSerializer, request.data).get("labels")


def _placed(
    answers: dict[str, Allocated], error: NoInstances | None, job_id: str, is_again: bool
) -> dict[str, Any]:
    if job_id not in answers:
        return _failed(job_id, error or NoInstances("no instances"))
    instance_id, persisted = answers[job_id]
    return {"job_id": job_id, "instance_id": instance_id, "persisted": persisted and not is_again}


def _ended(ended: dict[str, str], job_id: str, is_again: bool) -> dict[str, Any]:
    was = {"instance_id": ended[job_id]} if job_id in ended else {}
    return {"job_id": job_id, **was, "deallocated": job_id in ended and not is_again}


def _failed(job_id: str, error: AtributoError) -> dict[str, Any]:
    return {"job_id": job_id, "code": error.code, "detail": str(error)}
