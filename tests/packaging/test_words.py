"""What README promises is what the tests of a project do, and what keeps REST apart is used."""

import re

from tests.packaging.environment import ROOT
from tests.packaging.project import HOST


def test_the_six_lines_of_the_readme_are_those_of_the_tested_project():
    part = (ROOT / "README.md").read_text().partition("## In your Django project\n")[2]
    lines = re.findall(r"^    (.+)$", part.partition("\n## ")[0], re.M)
    assert len(lines) == 6
    assert lines[0] in (HOST / "shop_settings.py").read_text()
    assert lines[2] in (HOST / "shop_urls.py").read_text()
    tested = (ROOT / "tests" / "packaging" / "test_host.py").read_text()
    for line in lines[3:]:
        assert f'manage("{line.removeprefix("python manage.py ")}"' in tested


def test_methods_are_described_on_top_of_our_own_schema_class():
    """The decorator of drf-spectacular builds on the default of whatever project it is in."""
    rooms = ("allocation", "atributo_site", "pools", "queues")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    names = r"(?:\([^)]*|[^(\n]*)"
    direct = re.compile(rf"from drf_spectacular\.utils import {names}\bextend_schema\b")
    found = [path for path in files if direct.search(path.read_text())]
    assert found == []
