"""The OpenAPI document has no warnings, tells the truth and can be read offline."""

import io

import pytest
import schemathesis
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from atributo_site.rest import authentication, throttling
from queues.models import Script, Service
from tests.factories.jobs import make_script

# Valid data is refused with reason now and then: a cursor of another list, a name in use.
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
# Decided before a database is asked, at the price of several requests each.
AT_THE_DOOR = [checks.ignored_auth, checks.unsupported_method]
SCHEMA = "/api/v1/schema"
DOCS = "/api/v1/docs"


def test_the_document_is_made_without_a_warning(db):
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=io.StringIO())


def test_a_validator_accepts_the_document(rest_as):
    document = rest_as("viewer").get(SCHEMA).json()
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


SCHEMAS = {
    "of today": {"type": ["string", "null"], "const": "a", "examples": [{"$ref": "#/a"}]},
    "with its own parts": {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#"}}}},
    "with an id": {
        "$id": "urn:a",
        "$ref": "urn:a#/$defs/a",
        "$defs": {"a": {"items": {"$ref": "urn:a"}}},
    },
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_validator_accepts_the_schemas_of_scripts(rest_as, schema):
    service = Service.objects.create(mount="/a%b", name="a", version="1", folder="a")
    for name in ("send mail/now: \u202e", "send_mail.now:::"):
        Script.objects.create(service=service, name=name, title="a", path="a.py", schema=schema)
    document = rest_as("viewer").get(SCHEMA).json()
    names = [name for name in document["components"]["schemas"] if name.startswith("script.")]
    assert len(names) == 2
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_the_document_needs_permission(rest_as):
    assert Client().get(SCHEMA).status_code == 401
    document = rest_as("viewer").get(SCHEMA).json()
    assert "/api/v1/me" in document["paths"]
    assert set(document["components"]["securitySchemes"]) == {"token", "session"}


@pytest.mark.urls("tests.rest.rest_urls")
@pytest.mark.parametrize(
    ("path", "remembers"), [("/api/v1/doing", True), ("/api/v1/tokens", False)]
)
def test_a_post_that_remembers_documents_its_key(rest_as, path, remembers):
    post = rest_as("viewer").get(SCHEMA).json()["paths"][path]["post"]
    names = [parameter["name"] for parameter in post.get("parameters", [])]
    assert ("Idempotency-Key" in names) is remembers
    assert "application/problem+json" in post["responses"]["default"]["content"]


def test_the_docs_page_has_no_inline_script_or_style(client_as):
    page = client_as("viewer").get(DOCS).content.decode()
    assert "<script>" not in page
    assert "<style" not in page
    assert (
        client_as("viewer")
        .get(DOCS, {"script": ""})["Content-Type"]
        .startswith("application/javascript")
    )


def check_all(headers, examples, chosen=(*CHECKS, *AT_THE_DOOR)):
    """Send generated requests to every operation; the answers must match the document."""
    document = schemathesis.openapi.from_wsgi(SCHEMA, get_wsgi_application(), headers=headers)
    bounded = hypothesis_settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    for found in document.get_all_operations():
        operation = found.ok()

        @bounded
        @given(case=operation.as_strategy())
        def check(case):
            authentication.wrong_tokens.clear()  # some of the requests come with a wrong one
            throttling.requests.clear()
            case.call_and_validate(headers=headers, checks=chosen)

        check()


@pytest.mark.only_on("sqlite")
def test_generated_requests_are_answered_as_documented(transactional_db, token_of):
    check_all({"Authorization": f"Bearer {token_of('admin')}"}, examples=3)


@pytest.mark.only_on("postgresql")
def test_and_so_they_are_on_the_other_database(transactional_db, token_of):
    check_all({"Authorization": f"Bearer {token_of('admin')}"}, examples=2, chosen=CHECKS)


@pytest.mark.soak
def test_many_generated_requests_are_answered_as_documented(transactional_db, token_of):
    check_all({"Authorization": f"Bearer {token_of('admin')}"}, examples=1500)


def test_the_document_is_made_once_and_anew_when_a_script_changes(client_as, db):
    client = client_as("viewer")
    first = client.get(SCHEMA)
    same = client.get(SCHEMA, headers={"If-None-Match": first["ETag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert client.get(SCHEMA).content == first.content
    make_script(name="brand-new")
    later = client.get(SCHEMA, headers={"If-None-Match": first["ETag"]})
    assert later.status_code == 200 and "brand-new" in later.text
    assert later["ETag"] != first["ETag"]
