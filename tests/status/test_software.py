"""The list of licences and the SBOM name every package of the lock, as it is installed."""

import json
from importlib import metadata
from io import StringIO

import pytest
from django.core.management import call_command

from atributo_site.status.software import UNKNOWN, bill_of_materials, packages


@pytest.fixture(scope="module")
def found():
    return packages()


def test_every_package_has_a_licence_and_hashes(found):
    names = {package.name for package in found}
    assert {"django", "uvicorn", "psycopg-binary"} <= names
    assert [each.name for each in found if not each.licence or not each.hashes] == []
    assert [each.name for each in found if each.licence == "unknown"] == []


def test_versions_are_those_that_run_here(found):
    here = [each for each in found if each.licence != UNKNOWN]
    assert len(here) >= len(found) - 2
    assert [each.name for each in here if metadata.version(each.name) != each.version] == []


def test_the_document_is_whole_and_the_same_each_time(found):
    document = bill_of_materials("1.2.3", found)
    assert document == bill_of_materials("1.2.3", packages())
    refs = [component["bom-ref"] for component in document["components"]]
    assert len(refs) == len(set(refs)) == len(found) + 1
    named = {ref for line in document["dependencies"] for ref in [line["ref"], *line["dependsOn"]]}
    assert named <= {"atributo", *refs}
    assert "pkg:pypi/asgiref@" in str(
        [d for d in document["dependencies"] if "django@" in d["ref"]]
    )


def test_the_command_prints_a_table_or_the_document(found):
    table, document = StringIO(), StringIO()
    call_command("sbom", stdout=table)
    call_command("sbom", "--json", stdout=document)
    assert len(table.getvalue().splitlines()) == len(found) + 1
    assert json.loads(document.getvalue())["bomFormat"] == "CycloneDX"
