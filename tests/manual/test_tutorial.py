"""The tutorial works, step by step, in a terminal and a browser."""

import json
import re

import pytest

from atributo_site.manual.pages import page
from queues.logic import manifest
from tests.manual.tutorial import Tutorial

TEXT = page("tutorial").text
PICTURES = re.findall(r"images/(tutorial-[\w-]+)\.png", TEXT)


@pytest.fixture
def tutorial(tmp_path):
    reader = Tutorial(tmp_path)
    yield reader
    if hasattr(reader.site, "process"):
        reader.site.close()


def test_its_manifest_is_valid(tutorial):
    read, errors = manifest.read(json.loads(tutorial.files["my-services/shop/manifest.json"]))
    assert errors == [] and read.warnings == []
    assert set(tutorial.files) == {
        f"my-services/shop/{path}" for path in ("manifest.json", read.scripts["bill"].path)
    }


@pytest.mark.only_on("sqlite")  # the site has a database of its own
def test_every_step_works(tutorial, browser):
    tutorial.prepare()
    taken = []
    context = browser.new_context()
    tutorial.walk(context.new_page(), taken.append)
    context.close()
    assert taken == PICTURES
