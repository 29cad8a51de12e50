"""/services/runs: the result of a script that was run now and takes longer."""

from typing import Any

from django.http import JsonResponse
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.operation import extend_schema
from queues.errors import ScriptStillRuns
from queues.models import ScriptRun
from queues.services.dry_run import dry_run_as_dict
from queues.worker import script_runs
from queues.worker.script_follower import ScriptResult

STATES = ("waiting", "running", "complete", "failed")


class ScriptRunSerializer(serializers.Serializer):
    id = serializers.CharField()
    href = serializers.CharField()
    mount = serializers.CharField()
    script = serializers.CharField()
    dry_run = serializers.BooleanField()
    state = serializers.ChoiceField(STATES)
    result = serializers.JSONField(allow_null=True, help_text="As the run itself answers.")
    error = serializers.CharField(allow_blank=True)
    status_code = serializers.IntegerField(allow_null=True, help_text="Of the error.")


class OneRun(Endpoint):
    actions = {"GET": "script.run"}

    @extend_schema(operation_id="script_runs_get", responses=ScriptRunSerializer)
    def get(self, request: Request, key: str) -> Response:
        """Return a run that you have asked for; it is kept for a day."""
        return Response(run_as_dict(script_runs.get_run(key)))


def still_running(error: ScriptStillRuns) -> JsonResponse:
    """Answer with the address of the result."""
    run = run_as_dict(script_runs.get_run(error.key))
    return JsonResponse(run, status=202, headers={"Location": run["href"]})


def run_as_dict(run: ScriptRun) -> dict[str, Any]:
    answer = run.answer or {}
    failed, dry_run = "error" in answer, bool(run.work.get("dry_run"))
    result = None
    if answer and not failed:
        result = dry_run_as_dict(ScriptResult(**answer)) if dry_run else answer["result"]
    ended = "failed" if failed else "complete"
    return {
        "id": run.key,
        "href": reverse("atributo:api-script-run", args=[run.key]),
        "mount": run.work["mount"],
        "script": run.work["script"],
        "dry_run": dry_run,
        "state": ended if answer else str(run.state),
        "result": result,
        "error": answer.get("error", ""),
        "status_code": answer.get("status_code"),
    }
