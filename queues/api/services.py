"""/services: services and their scripts by REST. A mount has slashes, so it is in the query."""

from typing import Any

from django.http import JsonResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.serializers import StrictSerializer, checked
from queues import audited
from queues.api.script_runs import ScriptRunSerializer, still_running
from queues.errors import ScriptNotFound, ScriptStillRuns
from queues.models import Service
from queues.queries.presenters import configuration_dict, script_dict, service_dict
from queues.services import installation, script_limits
from queues.services.dry_run import dry_run_as_dict

MOUNT = OpenApiParameter("mount", str, required=True, description="For example /mailer.")
OPTIONAL_MOUNT = OpenApiParameter("mount", str, description="Only the service at this mount.")
DRY_RUN = OpenApiParameter("dry_run", bool, description="Run the script and undo what it did.")
OPTIONS = {"application/json": {"type": "object"}}
ANY: dict[str, Any] = {"description": "Any JSON value."}
ANY_JSON = (dict, list, str, int, float, bool, type(None))


class ServiceSerializer(serializers.Serializer):
    mount = serializers.CharField()
    name = serializers.CharField()
    version = serializers.CharField()
    description = serializers.CharField()
    development = serializers.BooleanField()
    scripts = serializers.DictField(child=serializers.CharField())
    configuration = serializers.DictField()
    missing_options = serializers.ListField(
        child=serializers.CharField(), help_text="No script runs until they have values."
    )
    installed_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField()


class ScriptSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    schema = serializers.JSONField(allow_null=True)
    defaults = serializers.DictField()
    record_start = serializers.BooleanField()
    limits = serializers.ListField(child=serializers.DictField())
    limits_by = serializers.CharField(help_text="Who has set them; empty while its manifest has.")
    declared_limits = serializers.ListField(
        child=serializers.DictField(), help_text="Those of its manifest."
    )
    threads = serializers.IntegerField(help_text="Jobs that one process runs at the same time.")


class Change(StrictSerializer):
    folder = serializers.CharField(max_length=1024, help_text="Below a service root.")
    configuration = serializers.DictField(required=False)
    setup = serializers.BooleanField(required=False)
    teardown = serializers.BooleanField(required=False)
    force = serializers.BooleanField(required=False)


class Install(StrictSerializer):
    mount = serializers.CharField(max_length=255)
    folder = serializers.CharField(max_length=1024, help_text="Below a service root.")
    configuration = serializers.DictField(required=False)
    setup = serializers.BooleanField(required=False)
    development = serializers.BooleanField(required=False)
    force = serializers.BooleanField(required=False)


class ScriptChange(StrictSerializer):
    limits = serializers.JSONField(
        allow_null=True,
        help_text="[] ends all limits of the script, null goes back to those of its manifest.",
    )


class Values(serializers.Serializer):
    values = serializers.DictField()
    warnings = serializers.DictField(child=serializers.CharField())


class Services(Endpoint):
    actions = {
        "GET": "service.view",
        "POST": "service.administer",
        "PATCH": "service.administer",
        "PUT": "service.administer",
        "DELETE": "service.administer",
    }

    @extend_schema(
        operation_id="services_list",
        parameters=[OPTIONAL_MOUNT],
        responses=ServiceSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        installed = Service.objects.prefetch_related("scripts")
        if "mount" in request.query_params:
            installed = installed.filter(pk=mounted(request).pk)
        return Response([service_dict(service) for service in installed])

    @extend_schema(
        operation_id="services_install", request=Install, responses={201: ServiceSerializer}
    )
    def post(self, request: Request) -> Response:
        given = checked(Install, request.data)
        service = installation.install(given.pop("folder"), given.pop("mount"), **given)
        return Response(service_dict(service), status=201)

    @extend_schema(
        operation_id="services_upgrade",
        parameters=[MOUNT],
        request=Change,
        responses=ServiceSerializer,
    )
    def patch(self, request: Request) -> Response:
        """Upgrade and keep its configuration; the teardown runs only if asked for."""
        given = checked(Change, request.data)
        mount = _mount(request)
        return Response(service_dict(installation.upgrade(given.pop("folder"), mount, **given)))

    @extend_schema(
        operation_id="services_replace",
        parameters=[MOUNT],
        request=Change,
        responses=ServiceSerializer,
    )
    def put(self, request: Request) -> Response:
        """Replace it, as if it were uninstalled and installed anew."""
        given = checked(Change, request.data)
        mount = _mount(request)
        return Response(service_dict(installation.replace(given.pop("folder"), mount, **given)))

    @extend_schema(
        operation_id="services_uninstall",
        parameters=[
            MOUNT,
            OpenApiParameter("teardown", bool),
            OpenApiParameter("force", bool),
        ],
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request) -> Response:
        installation.uninstall(
            _mount(request),
            teardown=_yes_or_no(request, "teardown", otherwise="true"),
            force=_yes_or_no(request, "force"),
        )
        return Response(status=204)


class Configuration(Endpoint):
    actions = {"GET": "service.view", "PATCH": "service.administer", "PUT": "service.administer"}

    @extend_schema(operation_id="configuration_get", parameters=[MOUNT], responses=Values)
    def get(self, request: Request) -> Response:
        return self._shown(mounted(request))

    @extend_schema(
        operation_id="configuration_change",
        parameters=[MOUNT],
        request=OPTIONS,
        responses=Values,
    )
    def patch(self, request: Request) -> Response:
        """Change the options given."""
        return self._shown(installation.configure(mounted(request).mount, dict(request.data)))

    @extend_schema(
        operation_id="configuration_replace",
        parameters=[MOUNT],
        request=OPTIONS,
        responses=Values,
    )
    def put(self, request: Request) -> Response:
        """Replace all options; those that are not given fall back to their defaults."""
        mount = mounted(request).mount
        return self._shown(installation.configure(mount, dict(request.data), whole=True))

    def _shown(self, service: Service) -> Response:
        values = configuration_dict(service)
        return Response({"values": values, "warnings": installation.warnings_of(service)})


class Development(Endpoint):
    actions = {"POST": "service.administer", "DELETE": "service.administer"}

    @extend_schema(
        operation_id="development_on", parameters=[MOUNT], request=None, responses=ServiceSerializer
    )
    def post(self, request: Request) -> Response:
        """Reload the scripts before every run, after the setup."""
        return Response(service_dict(installation.set_development(mounted(request).mount, True)))

    @extend_schema(
        operation_id="development_off",
        parameters=[MOUNT],
        request=None,
        responses=ServiceSerializer,
    )
    def delete(self, request: Request) -> Response:
        return Response(service_dict(installation.set_development(mounted(request).mount, False)))


class Scripts(Endpoint):
    actions = {"GET": "service.view"}

    @extend_schema(
        operation_id="scripts_list",
        parameters=[MOUNT],
        responses={200: {"type": "object", "additionalProperties": {"type": "string"}}},
    )
    def get(self, request: Request) -> Response:
        """Return the title of each script, by name."""
        return Response({s.name: s.title for s in mounted(request).scripts.all()})


class OneScript(Endpoint):
    actions = {"GET": "service.view", "POST": "script.run", "PATCH": "service.administer"}
    body_types = ANY_JSON

    @extend_schema(operation_id="scripts_get", parameters=[MOUNT], responses=ScriptSerializer)
    def get(self, request: Request, name: str) -> Response:
        script = mounted(request).scripts.filter(name=name).first()
        if script is None:
            raise ScriptNotFound(f"there is no script {name}", script=name)
        return Response(script_dict(script))

    @extend_schema(
        operation_id="scripts_change",
        parameters=[MOUNT],
        request=ScriptChange,
        responses=ScriptSerializer,
    )
    def patch(self, request: Request, name: str) -> Response:
        """Set its limits; what waits already waits for them. An upgrade keeps them."""
        given = checked(ScriptChange, request.data)
        script_limits.set_limits(mounted(request).mount, name, given["limits"])
        return self.get(request, name)

    @extend_schema(
        operation_id="scripts_run",
        parameters=[MOUNT, DRY_RUN],
        request={"application/json": ANY},
        responses={200: ANY, 202: ScriptRunSerializer},
    )
    def post(self, request: Request, name: str) -> JsonResponse:
        """Run it now. The body is its argument, a list its arguments; the answer is its result.

        It runs at a worker: without one the answer is 503. If it takes long the answer is 202 with
        the address of the result.

        A dry run answers with `result`, `changes` and `pushes`, and rolls all of them back.
        """
        body = request.data if request._request.body else None
        dry_run = _yes_or_no(request, "dry_run")
        try:
            ran = audited.run_script(mounted(request).mount, name, body, dry_run=dry_run)
        except ScriptStillRuns as error:
            return still_running(error)
        answer = dry_run_as_dict(ran) if dry_run else ran.result
        return JsonResponse(answer, safe=False)  # DRF would answer null with nothing


def mounted(request: Request) -> Service:
    return installation.service_at(_mount(request))


def _yes_or_no(request: Request, name: str, otherwise: str = "false") -> bool:
    given = request.query_params.get(name, otherwise)
    if given not in {"true", "false"}:
        raise ParseError(f"{name} is true or false.")
    return given == "true"


def _mount(request: Request) -> str:
    mount = request.query_params.get("mount", "")
    if not mount:
        raise ParseError("The query needs a mount, for example ?mount=/mailer.")
    return mount
