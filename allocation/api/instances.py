"""REST: instances, their availability, their drains and their jobs."""

from typing import Any

import django_filters
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from allocation.api.serializers import (
    AvailableSerializer,
    DrainWishSerializer,
    HeartbeatSerializer,
    InstanceSerializer,
    JobSerializer,
    NewInstanceSerializer,
    RemovalSerializer,
    SettingsSerializer,
    WhySerializer,
)
from allocation.errors import Outranked, UnknownInstance
from allocation.instances import availability
from allocation.instances.holds import may_remove
from allocation.models import Allocation, Instance
from allocation.models.instance import STATES
from allocation.placement import drains, operations
from atributo_site.core.ids import valid_id
from atributo_site.core.retry import retry_busy
from atributo_site.rest.authentication import source_of
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.preconditions import etag, required_epoch
from atributo_site.rest.serializers import checked

IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="Act only on this epoch."
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="With `*`: only if it is new."
)


class InstanceFilters(django_filters.FilterSet):
    available = django_filters.BooleanFilter()
    state = django_filters.ChoiceFilter(
        method="in_state", choices=[(word, word) for word in STATES]
    )
    prefix = django_filters.CharFilter(method="starting_with", max_length=255)
    label = django_filters.CharFilter(method="labelled", label="name=value", max_length=500)

    class Meta:
        model = Instance
        fields: list[str] = []

    def in_state(self, rows: Any, name: str, value: str) -> Any:
        return rows.in_state(value)

    def starting_with(self, rows: Any, name: str, value: str) -> Any:
        return rows.starting_with(value)

    def labelled(self, rows: Any, name: str, value: str) -> Any:
        label, equals, wanted = value.partition("=")
        if not equals or not label:
            raise ValidationError({"label": ["Write name=value."]})
        return rows.with_label(label, wanted)


class Instances(ListEndpoint):
    """Instances by id."""

    actions = {"GET": "instance.view", "POST": "instance.operate"}
    queryset = Instance.objects.select_related("drain").with_load()
    serializer_class = InstanceSerializer
    filterset_class = InstanceFilters

    @extend_schema(
        request=NewInstanceSerializer,
        responses={200: InstanceSerializer, 201: InstanceSerializer},
    )
    def post(self, request: Request) -> Response:
        """Make an instance available: 201 when it is new, 200 when it was known."""
        facts = checked(NewInstanceSerializer, request.data)
        instance_id = valid_id(facts.pop("id"))
        is_new = retry_busy(
            lambda: availability.register(instance_id, source=source_of(request), **facts)
        )
        return instance_response(instance_id, status=201 if is_new else 200)


class OneInstance(Endpoint):
    actions = {
        "GET": "instance.view",
        "PATCH": "instance.operate",
        "DELETE": "instance.remove",
    }

    @extend_schema(operation_id="instances_one", responses=InstanceSerializer)
    def get(self, request: Request, instance_id: str) -> Response:
        return instance_response(instance_id)

    @extend_schema(request=SettingsSerializer, responses=InstanceSerializer, parameters=[IF_MATCH])
    def patch(self, request: Request, instance_id: str) -> Response:
        """Change weight, capacity or labels."""
        facts = checked(SettingsSerializer, request.data)
        epoch = _required_epoch(request, instance_id)
        retry_busy(lambda: availability.configure(valid_id(instance_id), epoch=epoch, **facts))
        return instance_response(instance_id)

    @extend_schema(
        parameters=[
            IF_MATCH,
            OpenApiParameter("drop_jobs", int, description="How many keys it has, to drop them."),
            OpenApiParameter("reason", str, description="Why, for its event."),
        ],
        responses={204: None},
    )
    def delete(self, request: Request, instance_id: str) -> Response:
        """Remove an instance; with jobs only when their number is named."""
        text = request.query_params.get("drop_jobs")
        if text is not None and not (text.isascii() and text.isdigit() and len(text) < 19):
            raise ValidationError({"drop_jobs": ["Must be a whole number."]})
        operations.remove_instance(
            instance_id,
            drop_jobs=None if text is None else int(text),
            reason=request.query_params.get("reason", ""),
            epoch=_required_epoch(request, instance_id),
            source=source_of(request),
        )
        return Response(status=204)


class MakeAvailable(Endpoint):
    actions = {"POST": "instance.operate"}

    @extend_schema(request=AvailableSerializer, responses=InstanceSerializer, parameters=[IF_MATCH])
    def post(self, request: Request, instance_id: str) -> Response:
        facts = _parsed(AvailableSerializer, request, instance_id, creates=True)
        retry_busy(lambda: availability.make_available(valid_id(instance_id), **facts))
        return instance_response(instance_id)


class MakeUnavailable(Endpoint):
    actions = {"POST": "instance.operate"}

    @extend_schema(request=WhySerializer, responses=InstanceSerializer, parameters=[IF_MATCH])
    def post(self, request: Request, instance_id: str) -> Response:
        facts = _parsed(WhySerializer, request, instance_id, creates=True)
        retry_busy(lambda: availability.make_unavailable(valid_id(instance_id), **facts))
        return instance_response(instance_id)


class DrainInstance(Endpoint):
    actions = {"POST": "instance.operate", "DELETE": "instance.operate"}

    @extend_schema(request=DrainWishSerializer, responses=InstanceSerializer, parameters=[IF_MATCH])
    def post(self, request: Request, instance_id: str) -> Response:
        """Start a drain, or change the one that runs."""
        facts = _parsed(DrainWishSerializer, request, instance_id)
        force, epoch = facts.pop("force"), facts.pop("epoch")
        if force and facts.keys() == {"source"} and drains.is_running(valid_id(instance_id)):
            # It keeps its settings.
            retry_busy(lambda: drains.force(instance_id, source=facts["source"], epoch=epoch))
            return instance_response(instance_id)
        if not retry_busy(lambda: drains.drain(valid_id(instance_id), **facts, epoch=epoch)):
            raise Outranked(f"a person made {instance_id} available, so this has no effect")
        if force:
            retry_busy(lambda: drains.force(instance_id, source=facts["source"]))
        return instance_response(instance_id)

    @extend_schema(responses={200: InstanceSerializer}, parameters=[IF_MATCH])
    def delete(self, request: Request, instance_id: str) -> Response:
        """Stop it; the instance stays unavailable."""
        source, epoch = source_of(request), _required_epoch(request, instance_id)
        retry_busy(lambda: drains.stop(valid_id(instance_id), source=source, epoch=epoch))
        return instance_response(instance_id)


class Restore(Endpoint):
    actions = {"POST": "instance.operate"}

    @extend_schema(request=WhySerializer, responses=InstanceSerializer, parameters=[IF_MATCH])
    def post(self, request: Request, instance_id: str) -> Response:
        """Available again; whoever brought it here decides from now on."""
        facts = _parsed(WhySerializer, request, instance_id)
        retry_busy(lambda: availability.restore(valid_id(instance_id), **facts))
        return instance_response(instance_id)


class Heartbeat(Endpoint):
    actions = {"POST": "instance.operate"}

    @extend_schema(request=HeartbeatSerializer, responses=InstanceSerializer)
    def post(self, request: Request, instance_id: str) -> Response:
        """Keep an available instance alive for so many seconds."""
        wanted = checked(HeartbeatSerializer, request.data)
        availability.heartbeat(valid_id(instance_id), wanted["seconds"])
        return instance_response(instance_id)


class Removal(Endpoint):
    actions = {"GET": "instance.view"}

    @extend_schema(responses=RemovalSerializer)
    def get(self, request: Request, instance_id: str) -> Response:
        """May I remove this one now?"""
        return Response(RemovalSerializer(may_remove(valid_id(instance_id))).data)


class Jobs(ListEndpoint):
    """The jobs of an instance, by id; none for an unknown instance."""

    actions = {"GET": "allocation.view"}
    queryset = Allocation.objects.none()
    serializer_class = JobSerializer
    ordering = "job_id"

    def get_queryset(self) -> Any:
        return Allocation.objects.on(valid_id(self.kwargs.get("instance_id", "none")))


def _parsed(
    form: type[Serializer], request: Request, instance_id: str, *, creates: bool = False
) -> dict[str, Any]:
    """Return the members of the body, who sends it, and the epoch the instance must still have."""
    epoch = _required_epoch(request, instance_id, creates=creates)
    return {**checked(form, request.data), "source": source_of(request), "epoch": epoch}


def _required_epoch(request: Request, instance_id: str, *, creates: bool = False) -> int | None:
    rows = Instance.objects.filter(pk=valid_id(instance_id)).values_list("epoch", flat=True)
    return required_epoch(request, rows.first, creates=creates)


def instance_response(instance_id: str, status: int = 200) -> Response:
    rows = Instance.objects.select_related("drain").with_load()
    row = rows.filter(pk=valid_id(instance_id)).first()
    if row is None:
        raise UnknownInstance(f"there is no instance {instance_id}", instance_id=instance_id)
    headers = {"ETag": etag(row.epoch)}
    return Response(InstanceSerializer(row).data, status=status, headers=headers)
