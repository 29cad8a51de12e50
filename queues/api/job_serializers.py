"""What REST takes and returns of queued jobs; `queues.queries.presenters` writes the values."""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from atributo_site.core.models.clock import database_now
from atributo_site.rest.serializers import StrictSerializer
from queues.logic.options import MOST_AFTER
from queues.models.job import CHOICES
from queues.queries.presenters import job_dict, wait_reason
from queues.queries.states import WORDS

MOST_AT_ONCE = 10_000
ANY_JSON: dict[str, Any] = {"description": "Any JSON value."}


class ScriptName(StrictSerializer):
    mount = serializers.CharField(max_length=255)
    name = serializers.CharField(max_length=128)


class Options(StrictSerializer):
    """Numbers are milliseconds; negative counts mean forever."""

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
    concurrent = serializers.BooleanField(
        required=False, help_text="The job may run alongside other jobs of its key."
    )

    expires_at = serializers.DateTimeField(
        required=False, help_text="A job that has not started by then ends as expired."
    )

    flow_key = serializers.CharField(
        required=False,
        max_length=255,
        trim_whitespace=False,
        help_text="The key (tenant, customer, host) that limits and fairness count it for.",
    )
    limits = serializers.JSONField(
        required=False, help_text='Such as [{"per": "key", "at_once": 2}].'
    )

    def validate_back_off(self, value: Any) -> Any:
        if isinstance(value, dict) and "function" in value:
            raise serializers.ValidationError("A function is named in Python only.")
        return value


class Links(Options):
    """What a push waits for, and the batch that it belongs to."""

    batch = serializers.CharField(
        required=False, max_length=19, help_text="The id of an open batch that it belongs to."
    )
    after = serializers.ListField(
        child=serializers.CharField(max_length=255),
        required=False,
        max_length=MOST_AFTER,
        help_text="Ids of jobs that have to complete before it starts.",
    )
    even_if_failed = serializers.BooleanField(
        required=False, help_text="Start when they have ended, even if some of them failed."
    )


class NewJob(Links):
    data = serializers.JSONField(  # type: ignore[assignment]
        required=False, allow_null=True, default=None
    )
    unique_key = serializers.CharField(required=False, max_length=255, trim_whitespace=False)
    debounce = serializers.BooleanField(
        required=False,
        help_text="Replace the data and the moment of the waiting job with this unique_key.",
    )
    transaction = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        help_text="Your own: the job appears when it completes, and never otherwise.",
    )


class NewJobs(Links):
    data = serializers.ListField(  # type: ignore[assignment]
        child=serializers.JSONField(allow_null=True), max_length=MOST_AT_ONCE
    )


class ScheduleChanges(StrictSerializer):
    """The schedule of a job that repeats; what is left out stays."""

    repeat_delay = serializers.IntegerField(required=False, min_value=0, help_text="Milliseconds.")
    repeat_times = serializers.IntegerField(required=False, help_text="Negative: forever.")
    repeat_until = serializers.DateTimeField(
        required=False, allow_null=True, help_text="null: no end."
    )

    def validate(self, attrs: Any) -> Any:
        if not attrs:
            raise serializers.ValidationError(f"Give one of {', '.join(self.fields)}.")
        return attrs


class JobId(serializers.Serializer):
    id = serializers.CharField()


class JobIds(serializers.Serializer):
    ids = serializers.ListField(child=serializers.CharField())


class KeyToCancel(StrictSerializer):
    unique_key = serializers.CharField(max_length=255, trim_whitespace=False)
    reason = serializers.CharField(required=False, max_length=255, default="", allow_blank=True)


class CancelledJob(serializers.Serializer):
    id = serializers.CharField(allow_null=True)


class QueuedJobSerializer(serializers.Serializer):
    id = serializers.CharField()
    queue = serializers.CharField()
    script = ScriptName()
    status = serializers.ChoiceField([value for value, _ in CHOICES])
    state = serializers.ChoiceField(WORDS, help_text="As the screens say it; finer than status.")
    data = serializers.JSONField()  # type: ignore[assignment]
    result = serializers.JSONField()
    error = serializers.CharField()
    attempt = serializers.IntegerField()
    run = serializers.CharField(help_text="For example '2 of 4'.")
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
    flow_key = serializers.CharField(allow_null=True)
    limits = serializers.ListField(child=serializers.DictField(), help_text="Of its push.")
    sticky_key = serializers.CharField(allow_null=True)
    concurrent = serializers.BooleanField(
        help_text="Whether the job may run alongside other jobs of its key."
    )
    instance = serializers.CharField(allow_null=True, help_text="Where its key is allocated.")
    instance_epoch = serializers.IntegerField(allow_null=True)
    waits_for = serializers.CharField(
        help_text="Of a job that waits for others, its instance or a limit; otherwise empty."
    )
    batch = serializers.CharField(allow_null=True, help_text="The batch that it belongs to.")
    pushed_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    delay_until = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    expired = serializers.BooleanField(
        help_text="Whether it ended because it had not started by expires_at."
    )
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Any) -> Any:
        may_wait = instance.sticky_key is not None or instance.flow_id is not None
        may_wait = may_wait or instance.is_blocked
        reason = wait_reason(instance, self.now) if may_wait else ""
        return {**job_dict(instance, self.now), "waits_for": reason}

    @property
    def now(self) -> datetime:
        """Read the clock once for all jobs of an answer; the serializer itself may be kept."""
        context: Any = self.context
        if "now" not in context:
            context["now"] = database_now()
        return context["now"]


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


class JobReason(StrictSerializer):
    reason = serializers.CharField(required=False, max_length=255, default="", allow_blank=True)
