"""The client covers the OpenAPI document and the server's errors, and says what they say."""

import inspect
import re
from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator

from atributo_client import client as client_module
from atributo_client.failures import AtributoError
from atributo_client.operation import Group, Operation
from atributo_client.problems import BY_CODE, error_of
from atributo_client.shells import Settings, Shell
from atributo_client.steps import KEY, Answer
from tests.clients import generate

ROOT = Path(__file__).parents[2]
LEFT_OUT: dict[str, str] = {}  # operationId: why the client has no method for it
NOT_OVER_REST = {
    "already_running",  # of the command `up`
    "not_up",
    "error",
}
SAMPLES = {"int": 7, "float": 7.0, "dict": {}, "list": ["a/b"], "Sequence": ["a/b"]}


@pytest.fixture
def document(db):  # the scripts that are installed would be in it
    return SchemaGenerator().get_schema(public=True)


def operations():
    """Return every operation of the client with an object that has it."""
    root = client_module.Root(Shell(Settings("http://localhost", "t")))
    transaction = root.transaction()
    transaction._id = 7
    groups = [root, transaction, *(g for g in vars(root).values() if isinstance(g, Group))]
    return [
        (group, operation)
        for group in groups
        for _, operation in inspect.getmembers(type(group), lambda m: isinstance(m, Operation))
    ]


def by_id(document):
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


@pytest.mark.parametrize("name", ["answers.py", "bodies.py", "errors.py", "queries.py"])
def test_the_generated_files_are_up_to_date(db, name):
    assert (generate.FOLDER / name).read_text() == generate.files()[name], (
        "run python -m tests.clients.generate"
    )


def test_every_operation_has_a_method(document):
    covered = {each for _, operation in operations() for each in operation.ids}
    assert covered | set(LEFT_OUT) == set(by_id(document))
    assert not covered & set(LEFT_OUT)


def test_every_method_asks_as_the_document_says(document):
    documented = by_id(document)
    for group, operation in operations():
        if not operation.ids:
            continue
        method, path, described = documented[operation.ids[0]]
        request = next(operation.describe(group, *sample_arguments(operation)))
        pattern = re.sub(r"\{\w+\}", "[^/]+", path)
        assert (request.method, bool(re.fullmatch(pattern, request.path))) == (method, True), path
        known = {each["name"]: each["in"] for each in described.get("parameters", [])}
        assert [name for name in request.params if known.get(name) != "query"] == [], path
        assert (KEY in request.headers) == (KEY in known), path
        assert request.content is None or "requestBody" in described, path
        required = described.get("requestBody", {}).get("required", False)
        assert request.content is not None or not required, path


def sample_arguments(operation):
    parameters = list(inspect.signature(operation.describe).parameters.values())[1:]
    needed = [
        each
        for each in parameters
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    return [SAMPLES.get(kind_of(each), "a/b") for each in needed]


def kind_of(parameter):
    kind = parameter.annotation
    return getattr(kind, "__origin__", kind).__name__ if hasattr(kind, "__name__") else ""


def test_every_code_of_the_rooms_has_its_error():
    folders = ["allocation", "queues", "pools", "atributo_site/core", "atributo_site/rest"]
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    texts = [path.read_text() for path in paths if "management" not in path.parts]
    codes = {code for text in texts for code in re.findall(r'^    code = "(\w+)"', text, re.M)}
    assert len(codes) > 60
    assert codes - NOT_OVER_REST - set(BY_CODE) == set()


def test_a_problem_becomes_the_error_of_its_code():
    kind = {"content-type": "application/problem+json", "retry-after": "3"}
    body = b'{"code": "no_instances", "detail": "none", "status": 409, "asked": "x", "self": 1}'
    error = error_of(Answer(409, kind, body))
    assert type(error).__name__ == "NoInstances"
    assert (str(error), error.status, error.retry_after_seconds) == ("none", 409, 3)
    assert error.facts == {"asked": "x"}


def test_a_code_of_a_later_site_is_still_an_error():
    kind = {"content-type": "application/problem+json"}
    error = error_of(Answer(409, kind, b'{"code": "not_known_yet", "detail": "d"}'))
    assert (type(error), error.code) == (AtributoError, "not_known_yet")
