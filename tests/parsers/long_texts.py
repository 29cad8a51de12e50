"""Long texts that are awkward for some parser, and all parsers of what others write."""

from contextlib import suppress
from datetime import UTC, datetime
from types import SimpleNamespace

from rest_framework.exceptions import APIException

from allocation.logic import job_ids
from allocation.transactions.api import document_serializers
from allocation.transactions.logic import json_value, patch, search
from atributo_site import commands
from atributo_site.console.base import forms
from atributo_site.console.jobs import detail
from atributo_site.core import event_cursor, ids, redaction, text
from atributo_site.core.errors import AtributoError
from atributo_site.rest import preconditions, strict_json
from atributo_site.serving import one_port, sse
from atributo_site.web import middleware, pagination
from pools.logic.dns import address_policy, names
from pools.net.dns import cbresolve, nameservers
from queues.logic import manifest, mounts, search_query, secret_fields
from queues.schema.validation import check

LONG = 10_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXPECTED = (ValueError, TypeError, APIException, AtributoError, cbresolve.UsageError)
SHAPES = {  # how it begins, what is said again and again, how it ends
    "letters": ("", "a", "!"),
    "dots": ("failed", ".", ""),
    "dotted": ("data", ".a", "!"),
    "blanks": ("1d", " ", "!"),
    "lines": ("", "\n", "!"),
    "quotes": ("a:", '"', "!"),
    "apostrophes": ("", "'", "!"),
    "colons": ("", "a:", "!"),
    "words": ("", "a ", "!"),
    "parentheses": ("", "(", ""),
    "brackets": ("a:", "[", ""),
    "ranges": ("a:[", "1 TO ", "!"),
    "backslashes": ('a:"', "\\", ""),
    "digits": ("", "0", "x"),
    "commas": ("", "1,", "!"),
    "tags": ("", '"a",', "!"),
    "negations": ("", "NOT ", "!"),
    "slashes": ("", "/a", "!"),
    "escapes": ("", "~1", "!"),
    "percents": ("", "%2f", "!"),
    "letters of others": ("", "ü.", "!"),
    "hyphens": ("", "-", "!"),
    "files": ("", '  File "/lib/python3', "!"),
}


def text_of(shape, length=LONG):
    begin, word, end = SHAPES[shape]
    return (begin + word * length)[: length - len(end)] + end


def asks(**headers):
    return SimpleNamespace(headers={name.replace("_", "-"): text for name, text in headers.items()})


PARSERS = {
    "search of jobs": search_query.parsed,
    "search of jobs, written": lambda text: search_query.written("error", text),
    "search of documents": search.parsed,
    "condition of a search": lambda text: search._term(f"a:{text}"),
    "sort order": search.sort_fields,
    "span": text.milliseconds,
    "moment": lambda text: forms.moment(text, NOW),
    "number": pagination.whole,
    "job id": job_ids.parse,
    "id": ids.refusal,
    "mark of events": event_cursor.parsed,
    "topics": sse.topics_of,
    "If-Match": lambda text: preconditions.required_epoch(asks(If_Match=text), lambda: 7),
    "If-Match of a document": lambda text: preconditions.strong_tags(asks(If_Match=text)),
    "If-None-Match": lambda text: document_serializers.is_known(asks(If_None_Match=text), "1f"),
    "request id": middleware.request_id_of,
    "path": lambda text: one_port.decoded_path(text.encode()),
    "JSON": lambda text: strict_json.parsed(text.encode()),
    "JSON, a text": lambda text: strict_json.parsed(f'["{text}"]'.encode()),
    "document": lambda text: json_value.encoded({text: [text]}),
    "path of a patch": lambda text: patch.patched({}, [{"op": "add", "path": text, "value": 1}]),
    "name of a secret": redaction.looks_secret,
    "manifest": lambda text: manifest.read({"name": text, "version": text, "lib": text}),
    "script of a manifest": lambda text: manifest.read({"name": "a", "scripts": {text: text}}),
    "mount": mounts.mount_error,
    "title": mounts.title,
    "error": secret_fields.fingerprint,
    "error with secrets": lambda text: redaction.scrubbed(text, {text[:4], "aaaa", "...."}, 1000),
    "traceback": detail.own_trace,
    "line for a terminal": commands.harmless,
    "host and port": names.parse_host_port,
    "DNS name": names.dns_name,
    "network": lambda text: address_policy.parse_permit(text, 80),
    "resolv.conf": nameservers.nameservers_of,
    "resolv.conf, a server": lambda text: nameservers.nameservers_of(f"nameserver {text}"),
    "time-out of resolve": cbresolve._timeout_ms,
    "pattern of a schema": lambda text: check({"pattern": r"^(a+)+$|^(\w+\.?)*:"}, text),
}


def read(parser, text):
    """What cannot be read is refused in some way that its callers know."""
    with suppress(*EXPECTED):
        PARSERS[parser](text)
