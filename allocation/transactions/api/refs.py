"""Refs as ETags: what If-Match and If-None-Match demand of a document."""

import re

from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from allocation.transactions import sql
from allocation.transactions.keys import Demand
from atributo_site.rest.preconditions import must_be_new

TAG = re.compile(r'(?:W/)?"([!#-~]{1,32})"')


def etag(ref: str) -> str:
    return f'"{ref}"'


def demand(request: Request, *, otherwise: str = sql.ANYTHING, creates: bool = False) -> Demand:
    """What must be true of the key before it is written."""
    if must_be_new(request):
        if not creates:
            raise ParseError("The header If-None-Match: * is for PUT: what is new has no value.")
        return Demand.of(False)
    header = request.headers.get("If-Match", "").strip()
    if header == "*":
        return Demand(sql.PRESENT, "*")
    return Demand.of(_ref(header) if header else None, otherwise=otherwise)


def is_known(request: Request, ref: str) -> bool:
    """Whether the caller has this very version already."""
    header = request.headers.get("If-None-Match", "")
    return header.strip() == "*" or ref in TAG.findall(header)


def _ref(header: str) -> str:
    found = TAG.fullmatch(header)
    if found is None:
        raise ParseError('The header If-Match must be the ETag of a document, such as "1f2e".')
    return found[1]
