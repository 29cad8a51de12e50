"""/schedules: what runs by the calendar, by REST."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.models.clock import database_now
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import StrictSerializer, checked, refuse_members
from queues import schedules
from queues.api.job_serializers import ScriptName
from queues.logic.schedules.policies import Overlap
from queues.models import Schedule, ScheduledRun
from queues.schedules import backfill
from queues.schedules.presenting import preview, run_dict, schedule_dict

SPAN = "A span such as 90s or 5m, or milliseconds."
RULE = (
    'One of {"cron": "0 9 * * mon-fri"}, {"every": "90m", "anchor": "2030-01-31T12:00Z"}, '
    '{"calendar": {"weekdays": ["mon"], "days": [1, "last"], "times": ["09:00"]}} and '
    '{"moments": ["2030-01-31T12:00"]}.'
)


class ScheduleRule(StrictSerializer):
    """What a preview needs."""

    rule = serializers.JSONField(help_text=RULE)
    zone = serializers.CharField(required=False, max_length=64, help_text="An IANA name; UTC.")
    starts_at = serializers.CharField(required=False, allow_null=True, max_length=40)
    ends_at = serializers.CharField(required=False, allow_null=True, max_length=40)
    most_runs = serializers.IntegerField(required=False, allow_null=True, min_value=1)


class ScheduleFields(ScheduleRule):
    """Times without an offset are of the schedule's zone."""

    script = ScriptName()
    data = serializers.JSONField(required=False, allow_null=True)  # type: ignore[assignment]
    queue = serializers.CharField(required=False, max_length=255, help_text="default")
    options = serializers.DictField(required=False, help_text="Options of a push.")
    jitter = serializers.JSONField(required=False, help_text=SPAN)
    overlap = serializers.ChoiceField(list(Overlap), required=False)
    catch_up = serializers.JSONField(required=False, help_text=f"Window after an outage. {SPAN}")
    grace = serializers.JSONField(required=False, help_text=f"In which a run must begin. {SPAN}")
    pause_after_failures = serializers.IntegerField(required=False, allow_null=True, min_value=1)


class NewSchedule(ScheduleFields):
    name = serializers.CharField(max_length=128)


class ScheduleUpdate(ScheduleFields):
    """What is left out stays."""

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for field in fields.values():
            field.required = False
        return fields


class SchedulePause(StrictSerializer):
    reason = serializers.CharField(required=False, max_length=2000, allow_blank=True, default="")
    until = serializers.CharField(required=False, max_length=40, allow_null=True, default=None)


class ScheduleSerializer(serializers.Serializer):
    name = serializers.CharField()
    script = ScriptName()
    data = serializers.JSONField(allow_null=True)  # type: ignore[assignment]
    queue = serializers.CharField()
    options = serializers.DictField()
    rule = serializers.JSONField()
    zone = serializers.CharField()
    starts_at = serializers.CharField(allow_null=True)
    ends_at = serializers.CharField(allow_null=True)
    most_runs = serializers.IntegerField(allow_null=True)
    jitter = serializers.IntegerField(help_text="Milliseconds.")
    overlap = serializers.ChoiceField(list(Overlap))
    catch_up = serializers.IntegerField(help_text="Milliseconds.")
    grace = serializers.IntegerField(help_text="Milliseconds.")
    pause_after_failures = serializers.IntegerField(allow_null=True)
    said = serializers.CharField(help_text="The rule in words.")
    state = serializers.ChoiceField(["active", "paused", "ended"])
    next_at = serializers.DateTimeField(allow_null=True)
    runs = serializers.IntegerField()
    failures = serializers.IntegerField(help_text="In a row.")
    paused_at = serializers.DateTimeField(allow_null=True)
    paused_by = serializers.CharField()
    pause_reason = serializers.CharField()
    paused_until = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    service = serializers.CharField(help_text="The mount whose manifest has it, or empty.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    changed_at = serializers.DateTimeField()

    def to_representation(self, instance: Schedule) -> dict[str, Any]:
        return super().to_representation(schedule_dict(instance))


class ScheduledRunSerializer(serializers.Serializer):
    slot_at = serializers.DateTimeField(help_text="When it was expected.")
    kind = serializers.ChoiceField(ScheduledRun.Kind.choices)
    state = serializers.ChoiceField(ScheduledRun.State.choices)
    reason = serializers.CharField(help_text="Why it was skipped or missed, or its error.")
    job_id = serializers.CharField(allow_null=True)
    dispatched_at = serializers.DateTimeField(allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    late_seconds = serializers.FloatField(allow_null=True)

    def to_representation(self, instance: ScheduledRun) -> dict[str, Any]:
        return super().to_representation(run_dict(instance))


class ExpectedRunSerializer(serializers.Serializer):
    at = serializers.DateTimeField()
    local = serializers.CharField(help_text="In the schedule's zone.")
    note = serializers.CharField(help_text="What a change of clocks does to it.")


class SchedulePreview(serializers.Serializer):
    said = serializers.CharField(help_text="The rule in words.")
    difference = serializers.CharField(help_text="What a change brings; empty for a new rule.")
    runs = ExpectedRunSerializer(many=True)


class Backfill(StrictSerializer):
    """A range of the past; times without an offset are of the schedule's zone."""

    since = serializers.CharField(max_length=40)
    until = serializers.CharField(max_length=40)
    at_once = serializers.IntegerField(required=False, min_value=1, max_value=100, default=1)
    preview = serializers.BooleanField(
        required=False, default=False, help_text="Count only, store nothing."
    )


class BackfillAnswer(serializers.Serializer):
    count = serializers.IntegerField(help_text="Runs that wait, or would.")
    done = serializers.IntegerField(help_text="Slots of the range that have had their run.")
    first = serializers.DateTimeField(allow_null=True)
    last = serializers.DateTimeField(allow_null=True)


class StartedRun(serializers.Serializer):
    job_id = serializers.CharField()


class Schedules(ListEndpoint):
    """List schedules by name."""

    actions = {"GET": "schedule.view", "POST": "schedule.operate"}
    serializer_class = ScheduleSerializer
    queryset = Schedule.objects.select_related("queue")
    ordering = "name"

    @extend_schema(
        operation_id="schedules_create", request=NewSchedule, responses={201: ScheduleSerializer}
    )
    def post(self, request: Request) -> Response:
        """Create a schedule. A rule that never fires and an unknown zone are refused."""
        given = checked(NewSchedule, request.data)
        schedule = schedules.create(given.pop("name"), **given)
        return Response(ScheduleSerializer(schedules.row(schedule.name)).data, status=201)


class OneSchedule(Endpoint):
    actions = {
        "GET": "schedule.view",
        "PATCH": "schedule.operate",
        "DELETE": "schedule.operate",
    }

    @extend_schema(operation_id="schedules_get", responses=ScheduleSerializer)
    def get(self, request: Request, schedule: str) -> Response:
        return _shown(schedule)

    @extend_schema(
        operation_id="schedules_change", request=ScheduleUpdate, responses=ScheduleSerializer
    )
    def patch(self, request: Request, schedule: str) -> Response:
        """Change what is given; an ended schedule goes on if its rule has further runs."""
        schedules.change(schedule, **checked(ScheduleUpdate, request.data))
        return _shown(schedule)

    @extend_schema(operation_id="schedules_delete", request=None, responses={204: None})
    def delete(self, request: Request, schedule: str) -> Response:
        """Delete a schedule and its history; its jobs stay."""
        schedules.delete(schedule)
        return Response(status=204)


class Pause(Endpoint):
    actions = {"POST": "schedule.operate"}

    @extend_schema(
        operation_id="schedules_pause", request=SchedulePause, responses=ScheduleSerializer
    )
    def post(self, request: Request, schedule: str) -> Response:
        """Expect no run until it is resumed, or until a moment."""
        schedules.pause(schedule, **checked(SchedulePause, request.data))
        return _shown(schedule)


class Resume(Endpoint):
    actions = {"POST": "schedule.operate"}

    @extend_schema(operation_id="schedules_resume", request=None, responses=ScheduleSerializer)
    def post(self, request: Request, schedule: str) -> Response:
        """Expect runs again, from now on."""
        refuse_members(request)
        schedules.resume(schedule)
        return _shown(schedule)


class RunNow(Endpoint):
    actions = {"POST": "schedule.operate"}

    @extend_schema(operation_id="schedules_run_now", request=None, responses={201: StartedRun})
    def post(self, request: Request, schedule: str) -> Response:
        """Push one run at once, beside the rule."""
        refuse_members(request)
        return Response({"job_id": schedules.run_now(schedule)}, status=201)


class Runs(ListEndpoint):
    """List what a schedule expected and what became of it, newest first."""

    actions = {"GET": "schedule.view"}
    serializer_class = ScheduledRunSerializer
    queryset = ScheduledRun.objects.all()
    ordering = ("-slot_at", "-id")

    @extend_schema(operation_id="schedules_runs")
    def get(self, request: Request, schedule: str) -> Response:
        return super().list(request)

    def get_queryset(self) -> Any:
        return ScheduledRun.objects.filter(schedule=schedules.row(self.kwargs["schedule"]))


class Preview(Endpoint):
    """The next runs of a rule, before anything is stored."""

    actions = {"POST": "schedule.view"}

    @extend_schema(
        operation_id="schedules_preview", request=ScheduleRule, responses=SchedulePreview
    )
    def post(self, request: Request) -> Response:
        return _previewed(preview(checked(ScheduleRule, request.data), database_now()))


class ChangePreview(Endpoint):
    """The next runs after a change, and what the change brings; nothing is stored."""

    actions = {"POST": "schedule.view"}

    @extend_schema(
        operation_id="schedules_preview_change", request=ScheduleUpdate, responses=SchedulePreview
    )
    def post(self, request: Request, schedule: str) -> Response:
        given = checked(ScheduleUpdate, request.data)
        return _previewed(preview(given, database_now(), schedules.row(schedule)))


class Backfills(Endpoint):
    actions = {"POST": "schedule.operate", "DELETE": "schedule.operate"}

    @extend_schema(operation_id="schedules_backfill", request=Backfill, responses=BackfillAnswer)
    def post(self, request: Request, schedule: str) -> Response:
        """Run the slots of a past range that had no run, so many at once; or count them."""
        given = checked(Backfill, request.data)
        since, until = given["since"], given["until"]
        slots, done = backfill.plan(schedule, since, until)
        count = len(slots)
        if not given["preview"]:
            count = backfill.start(schedule, since, until, given["at_once"])
        ends = {"first": slots[0] if slots else None, "last": slots[-1] if slots else None}
        return Response(BackfillAnswer({"count": count, "done": done, **ends}).data)

    @extend_schema(operation_id="schedules_stop_backfill", request=None, responses={204: None})
    def delete(self, request: Request, schedule: str) -> Response:
        """Drop the runs of a backfill that still wait."""
        backfill.stop(schedule)
        return Response(status=204)


def _shown(name: str) -> Response:
    return Response(ScheduleSerializer(schedules.row(name)).data)


def _previewed(answer: dict[str, Any]) -> Response:
    return Response(SchedulePreview(answer).data)
