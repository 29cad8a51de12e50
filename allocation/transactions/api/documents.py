"""/collections: read and write documents. Those who may only look see secrets masked."""

import json
from functools import partial
from typing import Any

from django.http import HttpResponse, JsonResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.transactions.api.document_serializers import (
    HistoryQuery,
    HistorySerializer,
    ListQuery,
    OneQuery,
    PageSerializer,
    WriteQuery,
    WrittenSerializer,
    demand,
    etag,
    is_known,
)
from allocation.transactions.documents import documents, listing, patch
from allocation.transactions.documents.client import Client
from allocation.transactions.engine.audited import recorded
from allocation.transactions.store import sql
from allocation.transactions.store.keys import Demand, Key, new_key
from allocation.transactions.store.response import Response as Answer
from atributo_site.core.redaction import masked
from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.operation import extend_schema
from atributo_site.rest.permission import allowed
from atributo_site.rest.serializers import checked_query

ANY_JSON = (dict, list, str, int, float, bool, type(None))
ANY_VALUE: dict[str, Any] = {"description": "Any JSON value."}
BODY = {"application/json": ANY_VALUE}
IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER)
IF_NONE_MATCH = OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER)


class Collection(Endpoint):
    """The documents of one collection, in the order of their keys or as a search finds them."""

    actions = {"GET": "document.view", "POST": "document.change", "DELETE": "document.drop"}
    body_types = ANY_JSON

    @extend_schema(
        operation_id="collections_list", parameters=[ListQuery], responses=PageSerializer
    )
    def get(self, request: Request, collection: str) -> Response:
        query = checked_query(ListQuery, request.query_params.dict())
        following: int | str | None
        if "query" in query or "sort" in query:
            results, following = listing.matching_documents(
                collection,
                query.get("query", "*"),
                query.get("sort", ""),
                query["limit"],
                query["offset"],
                secrets=reads_secrets(request),
            )
        else:
            results, following = listing.listed(collection, query["limit"], query.get("after"))
        return Response({"results": masked_for(request, results), "next": following})

    @extend_schema(
        operation_id="collections_post", request=BODY, responses={201: WrittenSerializer}
    )
    def post(self, request: Request, collection: str) -> HttpResponse:
        body, place = _body(request), Key.of(collection, new_key())
        put = partial(documents.put, place, body, Demand.of(False), True)
        return _written(recorded("document.put", place, put))

    @extend_schema(
        operation_id="collections_drop", request=None, responses={200: {"type": "object"}}
    )
    def delete(self, request: Request, collection: str) -> Response:
        """Forget the whole collection and its history."""
        return Response(Client().drop(collection).json)


class Document(Endpoint):
    """One document: its JSON is the body, its ref the ETag."""

    actions = {
        "GET": "document.view",
        "PUT": "document.change",
        "PATCH": "document.change",
        "DELETE": "document.change",
    }
    body_types = ANY_JSON

    @extend_schema(
        operation_id="documents_get",
        parameters=[OneQuery, IF_NONE_MATCH],
        responses={200: ANY_VALUE, 304: None},
    )
    def get(self, request: Request, collection: str, key: str) -> HttpResponse:
        query = checked_query(OneQuery, request.query_params.dict())
        document = Client().get(collection, key, query.get("ref"), query["raise_if_locked"])
        document.raise_for_status()
        headers = {"ETag": etag(document.ref)}
        if is_known(request, document.ref):
            return HttpResponse(status=304, headers=headers)
        return JsonResponse(masked_for(request, document.json), safe=False, headers=headers)

    @extend_schema(
        operation_id="documents_put",
        parameters=[WriteQuery, IF_MATCH, IF_NONE_MATCH],
        request=BODY,
        responses={201: WrittenSerializer},
    )
    def put(self, request: Request, collection: str, key: str) -> HttpResponse:
        place = Key.of(collection, key)
        free = checked_query(WriteQuery, request.query_params.dict())["raise_if_locked"]
        body, wanted = _body(request), demand(request, place, creates=True)
        put = partial(documents.put, place, body, wanted, free)
        return _written(recorded("document.put", place, put))

    @extend_schema(
        operation_id="documents_patch",
        parameters=[WriteQuery, IF_MATCH],
        request=BODY,
        responses={201: WrittenSerializer},
    )
    def patch(self, request: Request, collection: str, key: str) -> HttpResponse:
        """An array is a JSON Patch, an object a merge patch."""
        place = Key.of(collection, key)
        free = checked_query(WriteQuery, request.query_params.dict())["raise_if_locked"]
        change, wanted = _body(request), demand(request, place)
        apply = patch.patch if isinstance(change, list) else patch.merge
        ref = wanted.if_ref if wanted.condition == sql.SAME_REF else None
        return _written(
            recorded("document.patched", place, partial(apply, place, change, ref, free))
        )

    @extend_schema(
        operation_id="documents_delete",
        parameters=[WriteQuery, IF_MATCH],
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, collection: str, key: str) -> HttpResponse:
        """With If-Match the history stays; without it the history goes too."""
        place = Key.of(collection, key)
        wanted = demand(request, place, otherwise=sql.PRESENT)
        free = checked_query(WriteQuery, request.query_params.dict())["raise_if_locked"]
        purge = wanted == Demand(sql.PRESENT)
        delete = partial(documents.delete, place, wanted, free, purge)
        recorded("document.deleted", place, delete, documents.way_of(purge)).raise_for_status()
        return HttpResponse(status=204)


class Refs(Endpoint):
    """The history of one document, newest first."""

    actions = {"GET": "document.view"}

    @extend_schema(parameters=[HistoryQuery], responses=HistorySerializer)
    def get(self, request: Request, collection: str, key: str) -> Response:
        query = checked_query(HistoryQuery, request.query_params.dict())
        results, before = listing.history(
            Key.of(collection, key), query["limit"], query["values"], query.get("before")
        )
        return Response({"results": masked_for(request, results), "next": before})


def _body(request: Request) -> Any:
    if not request._request.body:
        raise ParseError("The body must be the JSON value to store.")
    return request.data


def _written(answer: Answer) -> HttpResponse:
    answer.raise_for_status()
    path = {"collection": answer.collection, "key": answer.key, "ref": answer.ref}
    return HttpResponse(
        json.dumps(path),
        status=answer.status_code,
        content_type="application/json",
        headers={"ETag": etag(answer.ref)},
    )


def reads_secrets(request: Request) -> bool:
    return allowed(request, "document.secrets")


def masked_for(request: Request, value: Any) -> Any:
    """Return the value, masked for a caller who may only look."""
    return value if reads_secrets(request) else masked(value)
