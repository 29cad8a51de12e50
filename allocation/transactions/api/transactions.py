"""/transactions: a transaction held over several requests."""

from functools import lru_cache
from threading import Semaphore
from typing import Any

import django_filters
from django.conf import settings
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.errors import EpochChanged
from allocation.transactions.api.callers import known, may_be_ended, own
from allocation.transactions.api.documents import masked_for, reads_secrets
from allocation.transactions.api.transaction_serializers import (
    BeginSerializer,
    DetailSerializer,
    DoneSerializer,
    OperationSerializer,
    ReasonSerializer,
    RequiredReasonSerializer,
    TransactionSerializer,
)
from allocation.transactions.curator import operator_actions
from allocation.transactions.engine.audited import AuditedTransaction
from allocation.transactions.errors import InvalidDocument
from allocation.transactions.models import Transaction as Row
from allocation.transactions.store.keys import Key, checked_ref
from atributo_site.rest.authentication import caller_of
from atributo_site.rest.endpoint import Endpoint, ListEndpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.preconditions import etag, required_epoch
from atributo_site.rest.serializers import checked, refuse_members

DEFAULTS = {"create_only": False, "shared": False, "wait": 0}
MAY_HAVE = {
    "get": {"ref", "shared", "wait"},
    "lock": {"shared", "wait"},
    "put": {"ref", "create_only", "wait"},
    "delete": {"ref", "wait"},
    "post": set(),
    "list": {"after", "limit"},
    "search": {"query", "sort", "offset", "limit"},
}


NEEDS: dict[str, set[str]] = {
    "post": {"value"},
    "put": {"key", "value"},
    "list": set(),
    "search": set(),
}


class TransactionFilters(django_filters.FilterSet):
    status = django_filters.ChoiceFilter(choices=Row.Status.choices)
    owner = django_filters.CharFilter(max_length=255)
    open = django_filters.BooleanFilter(field_name="finished_at", lookup_expr="isnull")

    class Meta:
        model = Row
        fields: list[str] = []


class Transactions(ListEndpoint):
    """Transactions, newest first; POST begins one."""

    actions = {"GET": "transaction.view", "POST": "transaction.operate"}
    queryset: QuerySet = Row.objects.all()
    serializer_class = TransactionSerializer
    filterset_class = TransactionFilters
    ordering = "-id"

    @extend_schema(request=BeginSerializer, responses={201: TransactionSerializer})
    def post(self, request: Request) -> Response:
        """Only the token or log-in that begins it goes on with it."""
        wanted = checked(BeginSerializer, request.data)
        txn = AuditedTransaction.begin(caller_of(request), wanted["label"] or wanted["owner"])
        return _shown(txn.id, status=201)


class One(Endpoint):
    """One transaction with its journal and its locks."""

    actions = {"GET": "transaction.view"}

    @extend_schema(operation_id="transactions_one", responses=DetailSerializer)
    def get(self, request: Request, pk: int) -> Response:
        row = known(pk)
        data = DetailSerializer(row, context={"request": request}).data
        return Response(data, headers={"ETag": etag(row.epoch)})


class Operations(Endpoint):
    """One operation. A write that fails, or a locked key, rolls the whole transaction back."""

    actions = {"POST": "transaction.operate"}

    @extend_schema(request=OperationSerializer, responses=DoneSerializer)
    def post(self, request: Request, pk: int) -> Response:
        wanted = checked(OperationSerializer, request.data)
        txn = _held(request, pk)
        if wanted["op"] in ("list", "search"):
            return Response(_read(request, txn, wanted))
        return Response(_perform(txn, wanted))


class Complete(Endpoint):
    """Let all changes stand; those of another caller with a reason, for administrators."""

    actions = {"POST": "transaction.operate"}

    @extend_schema(request=ReasonSerializer, responses=TransactionSerializer)
    def post(self, request: Request, pk: int) -> Response:
        if reason := _reason(request):
            _check_epoch(request, may_be_ended(request, pk))
            operator_actions.complete(pk, reason)
        else:
            _held(request, pk).complete()
        return _shown(pk)


class RollBack(Endpoint):
    """Undo all changes; those of another caller with a reason, for administrators."""

    actions = {"POST": "transaction.operate"}

    @extend_schema(request=ReasonSerializer, responses=TransactionSerializer)
    def post(self, request: Request, pk: int) -> Response:
        if reason := _reason(request):
            _check_epoch(request, may_be_ended(request, pk))
            operator_actions.roll_back(pk, reason)
        else:
            _held(request, pk).roll_back()
        return _shown(pk)


class Renew(Endpoint):
    """Live on for another full time, up to the hard limit."""

    actions = {"POST": "transaction.operate"}

    @extend_schema(request=None, responses=TransactionSerializer)
    def post(self, request: Request, pk: int) -> Response:
        refuse_members(request)
        _held(request, pk).renew()
        return _shown(pk)


class Retry(Endpoint):
    """Try a stuck roll back again now."""

    actions = {"POST": "transaction.operate"}

    @extend_schema(request=RequiredReasonSerializer, responses=TransactionSerializer)
    def post(self, request: Request, pk: int) -> Response:
        wanted = checked(RequiredReasonSerializer, request.data)
        operator_actions.retry(pk, wanted["reason"])
        return _shown(pk)


def _perform(txn: AuditedTransaction, wanted: dict[str, Any]) -> dict[str, Any]:
    collection, wait = wanted["collection"], wanted["wait"]
    ref = False if wanted["create_only"] else wanted.get("ref")
    _check_members(wanted)
    match wanted["op"]:
        case "post":
            answer = txn.post(collection, wanted["value"])
        case "put":
            answer = txn.put(collection, wanted["key"], wanted["value"], ref, wait=wait)
        case "delete":
            answer = txn.delete(collection, wanted["key"], wanted.get("ref"), wait=wait)
        case "get":
            answer = txn.get(
                collection, wanted["key"], wanted.get("ref"), shared=wanted["shared"], wait=wait
            )
        case _:
            token = txn.lock(collection, wanted["key"], shared=wanted["shared"], wait=wait)
            return _done(200, collection, wanted["key"], "", token, None)
    value = answer.json if wanted["op"] == "get" else None
    return _done(answer.status_code, collection, answer.key, answer.ref, answer.token, value)


def _read(request: Request, txn: AuditedTransaction, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return a page of what is committed and of what the transaction wrote itself."""
    _check_members(wanted)
    collection, limit = wanted["collection"], wanted.get("limit", 50)
    if wanted["op"] == "list":
        page = txn.list(collection, limit=limit, after=wanted.get("after")).next()
    else:
        words = {"sort": wanted.get("sort", ""), "offset": wanted.get("offset", 0)}
        query, secrets = wanted.get("query", "*"), reads_secrets(request)
        page = txn.search(collection, query, limit=limit, secrets=secrets, **words).next()
    value = {**page.json, "results": masked_for(request, page.json["results"])}
    return _done(200, collection, "", "", None, value)


def _check_members(wanted: dict[str, Any]) -> None:
    """Refuse a malformed request before it could roll the transaction back."""
    op, given = wanted["op"], {name for name, value in wanted.items() if _is_given(name, value)}
    needed = NEEDS.get(op, {"key"})
    if missing := needed - set(wanted):
        raise InvalidDocument(f"{op} needs {', '.join(sorted(missing))}")
    if strange := given - needed - MAY_HAVE[op]:
        raise InvalidDocument(f"{op} has no {', '.join(sorted(strange))}")
    if {"ref", "create_only"} <= given:
        raise InvalidDocument("a put demands a ref or that the key is new, not both")
    Key.of(wanted["collection"], wanted.get("key", "new"))
    checked_ref(wanted.get("ref"))


def _is_given(name: str, value: Any) -> bool:
    """Return whether the member has another value than if it were left out."""
    return name not in ("op", "collection") and (name not in DEFAULTS or value != DEFAULTS[name])


def _done(
    status: int, collection: str, key: str, ref: str, token: int | None, value: Any
) -> dict[str, Any]:
    return {
        "status_code": status,
        "collection": collection,
        "key": key,
        "ref": ref,
        "token": token,
        "value": value,
    }


def _held(request: Request, pk: int) -> AuditedTransaction:
    """Return the caller's transaction at the epoch of If-Match, or else at the first epoch."""
    row = own(request, pk)
    if row.status == Row.Status.ACTIVE:
        _check_epoch(request, row)
    txn = AuditedTransaction.attach(pk, required_epoch(request, lambda: row.epoch) or 1)
    txn.seats = _seats(settings.ATRIBUTO.web_threads)
    return txn


@lru_cache
def _seats(threads: int) -> Semaphore:
    """Let half of the threads wait for keys, so that the others can serve their holders."""
    return Semaphore(max(1, threads // 2))


def _check_epoch(request: Request, row: Row) -> None:
    epoch = required_epoch(request, lambda: row.epoch)
    if epoch is not None and epoch != row.epoch:
        raise EpochChanged(
            f"transaction {row.pk} is at epoch {row.epoch}, not {epoch}", epoch=row.epoch
        )


def _reason(request: Request) -> str:
    return checked(ReasonSerializer, request.data)["reason"]


def _shown(pk: int, status: int = 200) -> Response:
    row = known(pk)
    data = TransactionSerializer(row).data
    return Response(data, status=status, headers={"ETag": etag(row.epoch)})
