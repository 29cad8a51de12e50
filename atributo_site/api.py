"""The site's own REST endpoints: the caller, the caller's tokens, and the events."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from atributo_site.core.models import Event
from atributo_site.models import TokenScope
from atributo_site.permissions import ACTIONS, APP_LABEL, ROLES, Level
from atributo_site.rest.authentication import source_of
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.permission import allowed, permitted, within
from atributo_site.rest.serializers import StrictSerializer, checked
from atributo_site.web import tokens


class EventFilters(django_filters.FilterSet):
    kind = django_filters.CharFilter(max_length=64)
    subject = django_filters.CharFilter(max_length=320)
    actor = django_filters.CharFilter(max_length=255)
    since = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="gte")
    until = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="lt")

    class Meta:
        model = Event
        fields: list[str] = []


class EventSerializer(serializers.ModelSerializer):
    facts = serializers.DictField(source="shown_facts")

    class Meta:
        model = Event
        fields = ["id", "at", "actor", "channel", "kind", "subject", "facts", "request_id"]


class Events(ListEndpoint):
    """What happened, newest first."""

    actions = {"GET": "event.view"}
    queryset = Event.objects.all()
    serializer_class = EventSerializer
    filterset_class = EventFilters
    ordering = "-id"


class TokenSerializer(serializers.ModelSerializer):
    user = serializers.CharField(source="token.user.username")
    created_at = serializers.DateTimeField(source="token.created")
    expires_at = serializers.DateTimeField(source="token.expiry", allow_null=True)

    class Meta:
        model = TokenScope
        fields = ["id", "user", "name", "level", "source"]
        fields += ["created_at", "expires_at", "last_used_at"]


class MadeTokenSerializer(TokenSerializer):
    token = serializers.CharField(source="text", help_text="Shown this once.")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class NewTokenSerializer(StrictSerializer):
    name = serializers.CharField(max_length=100)
    level = serializers.ChoiceField([level.value for level in Level])
    days = serializers.IntegerField(min_value=1, max_value=36500, required=False)
    source = serializers.ChoiceField(  # type: ignore[assignment]
        TokenScope.Source.values,
        default=TokenScope.Source.MANUAL.value,
        help_text="worker for a program: what it says of instances ranks below people.",
    )

    def validate_days(self, days: int) -> int:
        if days > tokens.most_days():
            raise serializers.ValidationError(f"At most {tokens.most_days()} days.")
        return days


class Tokens(ListEndpoint):
    """The caller's tokens; with ?user= those of somebody else, for administrators."""

    actions = {"GET": "token.own", "POST": "token.own"}
    queryset = TokenScope.objects.none()
    serializer_class = TokenSerializer
    ordering = "-id"
    more_filters = ("user",)
    remembers_answers = False

    def get_queryset(self) -> QuerySet[TokenScope]:
        every = TokenScope.objects.select_related("token__user")
        return every.filter(token__user__username=_whose(self.request))

    @extend_schema(
        parameters=[OpenApiParameter("user", str, description="The owner's name.")],
        responses=TokenSerializer(many=True),
    )
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=NewTokenSerializer, responses={201: MadeTokenSerializer})
    def post(self, request: Request) -> Response:
        if not within(request.auth, Level.ADMINISTER):
            raise PermissionDenied("A token makes tokens only at the level administer.")
        wanted = checked(NewTokenSerializer, request.data)
        made = _make(request, **wanted)
        return Response(MadeTokenSerializer(made).data, status=201)


class Token(Endpoint):
    """One token; somebody else's is not there unless the caller administers users.

    A token below the level administer revokes itself alone.
    """

    actions = {"DELETE": "token.own"}

    @extend_schema(operation_id="tokens_revoke", responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        scope = get_object_or_404(TokenScope.objects.select_related("token__user"), pk=pk)
        if scope.token.user_id != request.user.pk and not allowed(request, "user.administer"):
            raise Http404
        if request.auth != scope and not within(request.auth, Level.ADMINISTER):
            raise PermissionDenied("A token revokes others only at the level administer.")
        tokens.end(scope)
        return Response(status=204)


class MeSerializer(serializers.Serializer):
    user = serializers.CharField()
    role = serializers.ChoiceField([*ROLES, "none"])
    scope = serializers.ChoiceField([level.value for level in Level], allow_null=True)
    source = serializers.ChoiceField(TokenScope.Source.values)  # type: ignore[assignment]
    may = serializers.ListField(child=serializers.ChoiceField([*ACTIONS]))


class Me(Endpoint):
    """Who the caller is and what this request may do."""

    actions = {"GET": "me.view"}

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        me = {
            "user": request.user.get_username(),
            "role": _role(request.user),
            "scope": getattr(request.auth, "level", None),
            "source": source_of(request),
            "may": permitted(request),
        }
        return Response(me)


def _whose(request: Request) -> str:
    own = request.user.get_username()
    wanted = request.query_params.get("user", own)
    if wanted != own and not allowed(request, "user.administer"):
        raise PermissionDenied("Only administrators see the tokens of others.")
    return wanted


def _make(request: Any, days: int | None = None, **wanted: Any) -> TokenScope:
    life = tokens.most_days() if days is None else days
    scope, text = tokens.make_token(request.user, days=life, by=request.auth, **wanted)
    scope.text = text  # type: ignore[attr-defined]
    return scope


def _role(user: Any) -> str:
    for role, levels in reversed(ROLES.items()):
        if all(user.has_perm(f"{APP_LABEL}.{level.value}") for level in levels):
            return role
    return "none"
