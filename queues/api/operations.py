"""/operations: one action on every job that matches, by REST."""

from datetime import datetime
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import StrictSerializer, checked
from queues.errors import OperationNotFound
from queues.jobs import operations
from queues.models import Operation
from queues.queries.states import STATES

REFUSALS_SHOWN = 100


class QuerySerializer(StrictSerializer):
    text = serializers.CharField(
        required=False, max_length=500, help_text="As in the search box: queue:mail error:timeout"
    )
    state = serializers.ChoiceField(STATES, required=False)
    fingerprint = serializers.CharField(required=False, max_length=16)
    since = serializers.DateTimeField(required=False, help_text="Ended at or after.")
    until = serializers.DateTimeField(required=False, help_text="Ended before.")


class NewOperation(StrictSerializer):
    action = serializers.ChoiceField(Operation.Action.choices)
    query = QuerySerializer()
    reason = serializers.CharField(required=False, max_length=2000, default="")
    everything = serializers.BooleanField(
        required=False, default=False, help_text="Needed where nothing but the state narrows it."
    )
    schedules = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Also abort or delete jobs that repeat; without it they are refused.",
    )


class RefusalSerializer(serializers.Serializer):
    job_id = serializers.CharField()
    reason = serializers.CharField()


class JobOperationSerializer(serializers.ModelSerializer):
    query = serializers.DictField()

    class Meta:
        model = Operation
        fields = [
            "id", "action", "query", "said", "reason", "actor", "state", "expected", "visited",
            "changed", "refused", "created_at", "ended_at",
        ]  # fmt: skip


class OneJobOperationSerializer(JobOperationSerializer):
    refusals = serializers.SerializerMethodField()

    class Meta(JobOperationSerializer.Meta):
        fields = [*JobOperationSerializer.Meta.fields, "refusals"]

    @extend_schema(responses=RefusalSerializer(many=True))
    def get_refusals(self, operation: Operation) -> list[dict[str, Any]]:
        return refusals_as_dicts(operation)


class Operations(ListEndpoint):
    """List operations, newest first."""

    actions = {"GET": "operation.view", "POST": "operation.operate"}
    serializer_class = JobOperationSerializer
    queryset = Operation.objects.all()
    ordering = "-id"

    @extend_schema(
        operation_id="operations_start",
        request=NewOperation,
        responses={201: JobOperationSerializer},
    )
    def post(self, request: Request) -> Response:
        """Start an operation. The curator does it; ask for the operation to see how far it is."""
        given = checked(NewOperation, request.data)
        action, query = given.pop("action"), stored(given.pop("query"))
        made = operations.start(action, query, database_now(), **given)
        return Response(JobOperationSerializer(operation_or_404(made.pk)).data, status=201)


class OneOperation(Endpoint):
    actions = {"GET": "operation.view"}

    @extend_schema(operation_id="operations_get", responses=OneJobOperationSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(OneJobOperationSerializer(operation_or_404(pk)).data)


class Abort(Endpoint):
    actions = {"POST": "operation.operate"}

    @extend_schema(
        operation_id="operations_abort", request=None, responses=OneJobOperationSerializer
    )
    def post(self, request: Request, pk: int) -> Response:
        """Stop an operation; what is done stays done, the rest is left alone."""
        operations.abort(operation_or_404(pk).pk)
        return Response(OneJobOperationSerializer(operation_or_404(pk)).data)


def operation_or_404(pk: int) -> Operation:
    operation = Operation.objects.filter(pk=pk).first()
    if operation is None:
        raise OperationNotFound(f"There is no operation {pk}.")
    return operation


def refusals_as_dicts(operation: Operation) -> list[dict[str, str]]:
    """Return the first jobs that could not be changed, each with the reason."""
    rows = operation.refusals.all()[:REFUSALS_SHOWN]
    return [{"job_id": str(row.job_id), "reason": row.reason} for row in rows]


def stored(query: dict[str, Any]) -> dict[str, str]:
    """Return the query as the row keeps it: moments are texts, what is empty is left out."""
    texts = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in query.items()
    }
    return {name: text for name, text in texts.items() if text}
