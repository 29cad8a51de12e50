"""/collections: documents by REST."""

import json
from functools import partial
from typing import Any

from django.http import HttpResponse, JsonResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from allocation.transactions import documents, listing, patch, sql
from allocation.transactions.api.document_shapes import (
    HistoryQuery,
    HistorySerializer,
    ListQuery,
    OneQuery,
    PageSerializer,
    WriteQuery,
    WrittenSerializer,
)
from allocation.transactions.api.refs import demand, etag, is_known
from allocation.transactions.api.secrets import reads_secrets, shown
from allocation.transactions.client import Client
from allocation.transactions.doors import told
from allocation.transactions.keys import Demand, Key, new_key
from allocation.transactions.response import Response as Answer
from atributo_site.rest.endpoint import Endpoint
from atributo_site.rest.strict_serializer import checked

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
        asked = checked(ListQuery, request.query_params.dict())
        following: int | str | None
        if "query" in asked or asked["sort"]:
            results, following = listing.found(
                collection,
                asked.get("query", "*"),
                asked["sort"],
                asked["limit"],
                asked["offset"],
                secrets=reads_secrets(request),
            )
        else:
            results, following = listing.listed(collection, asked["limit"], asked.get("after"))
        return Response({"results": shown(request, results), "next": following})

    @extend_schema(
        operation_id="collections_post", request=BODY, responses={201: WrittenSerializer}
    )
    def post(self, request: Request, collection: str) -> HttpResponse:
        body, place = _body(request), Key.of(collection, new_key())
        put = partial(documents.put, place, body, Demand.of(False), True)
        return _written(told("document.put", place, put))

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
        asked = checked(OneQuery, request.query_params.dict())
        found = Client().get(collection, key, asked.get("ref"), asked["raise_if_locked"])
        found.raise_for_status()
        headers = {"ETag": etag(found.ref)}
        if is_known(request, found.ref):
            return HttpResponse(status=304, headers=headers)
        return JsonResponse(shown(request, found.json), safe=False, headers=headers)

    @extend_schema(
        operation_id="documents_put",
        parameters=[WriteQuery, IF_MATCH, IF_NONE_MATCH],
        request=BODY,
        responses={201: WrittenSerializer},
    )
    def put(self, request: Request, collection: str, key: str) -> HttpResponse:
        place = Key.of(collection, key)
        free = checked(WriteQuery, request.query_params.dict())["raise_if_locked"]
        body, wanted = _body(request), demand(request, creates=True)
        put = partial(documents.put, place, body, wanted, free)
        return _written(told("document.put", place, put))

    @extend_schema(
        operation_id="documents_patch",
        parameters=[WriteQuery, IF_MATCH],
        request=BODY,
        responses={201: WrittenSerializer},
    )
    def patch(self, request: Request, collection: str, key: str) -> HttpResponse:
        """An array is a JSON Patch, an object a merge patch."""
        place = Key.of(collection, key)
        free = checked(WriteQuery, request.query_params.dict())["raise_if_locked"]
        change, wanted = _body(request), demand(request)
        apply = patch.patch if isinstance(change, list) else patch.merge
        ref = wanted.if_ref if wanted.condition == sql.SAME_REF else None
        return _written(told("document.patched", place, partial(apply, place, change, ref, free)))

    @extend_schema(
        operation_id="documents_delete",
        parameters=[WriteQuery, IF_MATCH],
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, collection: str, key: str) -> HttpResponse:
        """With If-Match the history stays; without it the history goes too."""
        wanted = demand(request, otherwise=sql.PRESENT)
        free = checked(WriteQuery, request.query_params.dict())["raise_if_locked"]
        purge = wanted == Demand(sql.PRESENT)
        place = Key.of(collection, key)
        delete = partial(documents.delete, place, wanted, free, purge)
        told("document.deleted", place, delete, documents.way_of(purge)).raise_for_status()
        return HttpResponse(status=204)


class Refs(Endpoint):
    """The history of one document, newest first."""

    actions = {"GET": "document.view"}

    @extend_schema(parameters=[HistoryQuery], responses=HistorySerializer)
    def get(self, request: Request, collection: str, key: str) -> Response:
        asked = checked(HistoryQuery, request.query_params.dict())
        results, before = listing.history(
            Key.of(collection, key), asked["limit"], asked["values"], asked.get("before")
        )
        return Response({"results": shown(request, results), "next": before})


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
