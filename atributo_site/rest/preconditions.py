"""Read If-Match and If-None-Match: act only on the version that the caller has seen."""

import re

from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from atributo_site.core.errors import AtributoError

TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
TAGS = re.compile(rf"{TAG}(?:[ \t]*,[ \t]*{TAG})*")
EPOCH = re.compile(r'(?:W/)?"(0|[1-9][0-9]{0,18})"')


class PreconditionFailed(AtributoError):
    """The object has changed since the caller read it."""

    status_code = 412
    code = "precondition_failed"


def etag(epoch: int) -> str:
    return f'"{epoch}"'


def required_epoch(request: Request) -> int | None:
    """Return the one version that If-Match names; None without the header or for `*`."""
    header = request.headers.get("If-Match")
    if header is None or header.strip() == "*":
        return None
    tags = _tags("If-Match", header)
    if len(tags) > 1:
        raise ParseError("The header If-Match must name one version.")
    epoch = EPOCH.fullmatch(tags[0])
    if epoch is None:
        raise PreconditionFailed(f"no version is called {tags[0]}")
    return int(epoch[1])


def must_be_new(request: Request) -> bool:
    """Return True for `If-None-Match: *`, which asks to create and never to overwrite."""
    header = request.headers.get("If-None-Match", "")
    return header.strip() == "*"


def _tags(name: str, header: str) -> list[str]:
    if not TAGS.fullmatch(header.strip()):
        raise ParseError(f'The header {name} must be an ETag such as "7".')
    return re.findall(TAG, header)
