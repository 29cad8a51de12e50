"""/incidents: what is wrong and what was wrong, and acknowledging it, by REST."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.models.clock import database_now
from atributo_site.incidents import rows
from atributo_site.incidents.listing import MOST, incidents
from atributo_site.incidents.rows import incident_or_404
from atributo_site.models import LONGEST_NOTE, Incident
from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import StrictSerializer, checked, checked_query
from atributo_site.status.screens import screen_of


class IncidentQuery(StrictSerializer):
    severity = serializers.ChoiceField(Incident.SEVERITIES, required=False)
    since = serializers.DateTimeField(
        required=False, help_text="Resolved at or after; by default a day ago."
    )
    until = serializers.DateTimeField(required=False, help_text="Opened before.")
    limit = serializers.IntegerField(min_value=1, max_value=1000, default=MOST)


class IncidentSerializer(serializers.ModelSerializer):
    id = serializers.IntegerField(allow_null=True, help_text="None until a curator has stored it.")
    state = serializers.ChoiceField(["open", "acknowledged", "resolved"])
    severity = serializers.ChoiceField(Incident.SEVERITIES)
    since = serializers.DateTimeField(source="shown_since")
    screen = serializers.SerializerMethodField(help_text="The address of its screen.")

    class Meta:
        model = Incident
        fields = [
            "id", "kind", "subject", "severity", "state", "title", "detail", "affected", "command",
            "screen", "count", "since", "opened_at", "last_seen_at", "resolved_at",
            "acknowledged_by", "acknowledged_at", "note",
        ]  # fmt: skip

    def get_screen(self, row: Incident) -> str:
        return screen_of(row.kind, row.subject)


class IncidentsSerializer(serializers.Serializer):
    open = IncidentSerializer(many=True)
    resolved = IncidentSerializer(many=True)
    more = serializers.BooleanField(help_text="More are resolved than the limit lets through.")


class NoteSerializer(StrictSerializer):
    note = serializers.CharField(
        max_length=LONGEST_NOTE, required=False, allow_blank=True, default=""
    )


class Incidents(Endpoint):
    """What is wrong now, the worst and newest first, then what was wrong lately."""

    actions = {"GET": "incident.view"}

    @extend_schema(
        operation_id="incidents_list", parameters=[IncidentQuery], responses=IncidentsSerializer
    )
    def get(self, request: Request) -> Response:
        query: dict[str, Any] = checked_query(IncidentQuery, request.query_params.dict())
        most = query.pop("limit")
        return Response(IncidentsSerializer(incidents(database_now(), most=most, **query)).data)


class OneIncident(Endpoint):
    actions = {"GET": "incident.view"}

    @extend_schema(operation_id="incidents_get", responses=IncidentSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(IncidentSerializer(incident_or_404(pk)).data)


class Acknowledge(Endpoint):
    actions = {"POST": "incident.acknowledge"}

    @extend_schema(
        operation_id="incidents_acknowledge", request=NoteSerializer, responses=IncidentSerializer
    )
    def post(self, request: Request, pk: int) -> Response:
        """Say that somebody looks after it; it stays until its cause is gone."""
        note = checked(NoteSerializer, request.data)["note"]
        return Response(IncidentSerializer(rows.acknowledge(pk, note)).data)
