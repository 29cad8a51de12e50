"""/queues: queues by REST."""

from typing import Any

from django.db.models import Count, Q
from django.db.models.functions import Now
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

import queues
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import StrictSerializer, checked
from queues import catalogue
from queues.api.job_serializers import ScriptName
from queues.catalogue import set_target_age
from queues.logic.absence import WhenAway
from queues.logic.lateness import TARGET_AGE_SECONDS
from queues.models import Queue
from queues.models.queue import MOST_TARGET_AGE_SECONDS, MOST_WORKERS
from queues.queries.flows import limits_status
from queues.queries.presenters import queue_dict

TARGET_AGE = (
    "How old the oldest due job may get before the queue is late; "
    f"null: {TARGET_AGE_SECONDS}s, while nobody works at the queue."
)

RECORD_START = "Whether every start is in the database before a job begins; this is slower."


LIMITS = 'Such as [{"per": "key", "at_once": 2}, {"per": "queue", "rate": "100/min", "burst": 20}].'
WEIGHTS = 'How many times the share of others some flow keys get, such as {"acme": 3}.'


class QueueSerializer(serializers.Serializer):
    name = serializers.CharField()
    max_workers = serializers.IntegerField()
    running = serializers.IntegerField(help_text="Slots that are held now.")
    paused = serializers.BooleanField()
    paused_by = serializers.CharField()
    retention_days = serializers.IntegerField()
    when_away = serializers.ChoiceField(list(WhenAway))
    away_seconds = serializers.IntegerField()
    target_age_seconds = serializers.IntegerField(allow_null=True, help_text=TARGET_AGE)
    record_start = serializers.BooleanField(help_text=RECORD_START)
    limits = serializers.ListField(child=serializers.DictField(), help_text=LIMITS)
    weights = serializers.DictField(child=serializers.IntegerField(), help_text=WEIGHTS)
    created_at = serializers.DateTimeField()

    def to_representation(self, instance: Any) -> Any:
        values = instance
        if isinstance(instance, Queue):
            values = queue_dict(instance, getattr(instance, "running", None))
        return super().to_representation(values)


class QueueChanges(StrictSerializer):
    max_workers = serializers.IntegerField(min_value=1, max_value=MOST_WORKERS, required=False)
    retention_days = serializers.IntegerField(
        min_value=1, max_value=catalogue.MOST_DAYS, required=False
    )
    when_away = serializers.ChoiceField(
        list(WhenAway),
        required=False,
        help_text="What sticky jobs do while no worker serves their instance.",
    )
    away_seconds = serializers.IntegerField(
        min_value=0,
        max_value=catalogue.MOST_AWAY_SECONDS,
        required=False,
        help_text="The grace before they move or fail.",
    )
    target_age_seconds = serializers.IntegerField(
        min_value=1,
        max_value=MOST_TARGET_AGE_SECONDS,
        allow_null=True,
        required=False,
        help_text=TARGET_AGE,
    )
    record_start = serializers.BooleanField(required=False, help_text=RECORD_START)
    limits = serializers.JSONField(required=False, allow_null=True, help_text=LIMITS)
    weights = serializers.JSONField(required=False, allow_null=True, help_text=WEIGHTS)


class NewQueue(QueueChanges):
    name = serializers.CharField(max_length=255, trim_whitespace=False)


class Queues(ListEndpoint):
    actions = {"GET": "queue.view", "POST": "queue.administer"}
    serializer_class = QueueSerializer
    queryset = Queue.objects.existing().annotate(
        running=Count("slots", filter=Q(slots__leased_until__gt=Now()))
    )
    ordering = "name"

    @extend_schema(
        operation_id="queues_create",
        request=NewQueue,
        responses={200: QueueSerializer, 201: QueueSerializer},
    )
    def post(self, request: Request) -> Response:
        """Make a queue (201); one that exists is changed by what is given (200)."""
        given = checked(NewQueue, request.data)
        name = given.pop("name")
        is_new = not Queue.objects.existing().filter(name=name).exists()
        return Response(QueueSerializer(changed(name, given)).data, status=201 if is_new else 200)


class OneQueue(Endpoint):
    actions = {"GET": "queue.view", "PATCH": "queue.administer", "DELETE": "queue.administer"}

    @extend_schema(operation_id="queues_get", responses=QueueSerializer)
    def get(self, request: Request, queue: str) -> Response:
        return Response(QueueSerializer(catalogue.row(queue)).data)

    @extend_schema(operation_id="queues_change", request=QueueChanges, responses=QueueSerializer)
    def patch(self, request: Request, queue: str) -> Response:
        catalogue.row(queue)
        return Response(QueueSerializer(changed(queue, checked(QueueChanges, request.data))).data)

    @extend_schema(operation_id="queues_delete", request=None, responses={204: None})
    def delete(self, request: Request, queue: str) -> Response:
        """Delete a queue; its jobs stay, and wait until it is made again."""
        catalogue.row(queue)
        queues.delete(queue)
        return Response(status=204)


class WaitingFlow(serializers.Serializer):
    flow_key = serializers.CharField(help_text="Empty for jobs without one.")
    script = ScriptName()
    waits_for = serializers.CharField(help_text="The limit, for example '2 at once per key'.")
    since = serializers.DateTimeField(allow_null=True)
    jobs = serializers.IntegerField(help_text="That wait, counted up to 1,001.")
    running = serializers.IntegerField(help_text="Jobs of this key that are held now.")


class LimitsSerializer(serializers.Serializer):
    limits = serializers.ListField(child=serializers.DictField(), help_text=LIMITS)
    weights = serializers.DictField(child=serializers.IntegerField(), help_text=WEIGHTS)
    waits_for = serializers.CharField(
        help_text="The limit that holds the whole queue, if one does."
    )
    since = serializers.DateTimeField(allow_null=True)
    waiting = WaitingFlow(many=True)


class LimitsPreview(StrictSerializer):
    limits = serializers.JSONField(allow_null=True, help_text=LIMITS)


class BacklogEnd(serializers.Serializer):
    jobs = serializers.IntegerField(help_text="That are due.")
    is_cut = serializers.BooleanField(help_text="There are more than were counted.")
    ends_at = serializers.DateTimeField(allow_null=True, help_text="Of the last of them, about.")
    held_by = serializers.CharField(help_text="The limit that takes longest.")
    unknown = serializers.ListField(
        child=serializers.CharField(), help_text="Scripts that have not run yet: no estimate."
    )
    said = serializers.CharField()


class WhatIf(serializers.Serializer):
    now = BacklogEnd()
    then = BacklogEnd(help_text="With the limits of the request.")


class Limits(Endpoint):
    actions = {"GET": "queue.view", "POST": "queue.view"}

    @extend_schema(operation_id="queues_limits", responses=LimitsSerializer)
    def get(self, request: Request, queue: str) -> Response:
        """Tell which flow keys wait for which limit, and since when; the first 50."""
        return Response(LimitsSerializer(limits_status(catalogue.row(queue))).data)

    @extend_schema(operation_id="queues_limits_preview", request=LimitsPreview, responses=WhatIf)
    def post(self, request: Request, queue: str) -> Response:
        """Estimate when the backlog ends, now and with other limits; nothing is stored."""
        given = checked(LimitsPreview, request.data)
        return Response(WhatIf(catalogue.what_if(queue, given["limits"])).data)


class Pause(Endpoint):
    actions = {"POST": "queue.operate"}

    @extend_schema(operation_id="queues_pause", request=None, responses=QueueSerializer)
    def post(self, request: Request, queue: str) -> Response:
        queues.pause(queue)
        return Response(QueueSerializer(catalogue.row(queue)).data)


class Resume(Endpoint):
    actions = {"POST": "queue.operate"}

    @extend_schema(operation_id="queues_resume", request=None, responses=QueueSerializer)
    def post(self, request: Request, queue: str) -> Response:
        queues.resume(queue)
        return Response(QueueSerializer(catalogue.row(queue)).data)


class ChangedQueues(serializers.Serializer):
    changed = serializers.IntegerField(
        help_text="How many changed; the others already had this state."
    )
    queues = serializers.ListField(child=serializers.CharField(), help_text="Their names.")


HIDDEN = {name: extend_schema(exclude=True) for name in ("get", "patch", "delete")}


@extend_schema_view(**HIDDEN)
class PauseAll(OneQueue):
    """Every queue; one that is called "pause" is served here, too."""

    actions = {**OneQueue.actions, "POST": "queue.operate"}

    @extend_schema(operation_id="queues_pause_all", request=None, responses=ChangedQueues)
    def post(self, request: Request, queue: str = "") -> Response:
        """Start no further job in any queue; running ones finish."""
        return _all_changed(catalogue.pause_all())


@extend_schema_view(**HIDDEN)
class ResumeAll(OneQueue):
    """Every queue; one that is called "resume" is served here, too."""

    actions = {**OneQueue.actions, "POST": "queue.operate"}

    @extend_schema(operation_id="queues_resume_all", request=None, responses=ChangedQueues)
    def post(self, request: Request, queue: str = "") -> Response:
        """Let every paused queue run again, whoever paused it."""
        return _all_changed(catalogue.resume_all())


def _all_changed(names: list[str]) -> Response:
    return Response({"changed": len(names), "queues": names})


def changed(name: str, given: dict[str, Any]) -> Queue:
    queues.create(name, given.get("max_workers"))
    if "retention_days" in given:
        catalogue.set_retention(name, given["retention_days"])
    if given.keys() & {"when_away", "away_seconds"}:
        catalogue.set_when_away(name, given.get("when_away"), given.get("away_seconds"))
    if "target_age_seconds" in given:
        set_target_age(name, given["target_age_seconds"])
    if "record_start" in given:
        catalogue.set_record_start(name, given["record_start"])
    if "limits" in given:
        catalogue.set_limits(name, given["limits"])
    if "weights" in given:
        catalogue.set_weights(name, given["weights"])
    return catalogue.row(name)
