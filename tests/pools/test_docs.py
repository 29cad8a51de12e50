"""The examples of docs/pools.md, each run as a program of its own."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pools.http.web import Web
from tests.servers.dns.server import DNSServer

PAGE = Path(__file__).parents[2] / "docs" / "pools.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def nameserver():
    with DNSServer() as dns, Web() as web:
        dns.set("_http._tcp.svc.example", "SRV", [(0, 0, web.port, "a.svc.example")])
        dns.set("a.svc.example", "A", ["127.0.0.1"])
        yield f"127.0.0.1:{dns.port}"


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number, nameserver, tmp_path):
    program = tmp_path / "example.py"
    program.write_text(EXAMPLES[number])
    runpy.run_path(str(program), init_globals={"nameserver": nameserver})


def test_the_names_of_the_library_are_loaded_when_used():
    import pools

    for name in pools.__all__:
        assert getattr(pools, name)
    with pytest.raises(AttributeError):
        getattr(pools, "nothing")  # noqa: B009


def test_importing_the_package_loads_neither_django_nor_the_network():
    code = "import sys, pools; print(sorted(m for m in sys.modules if m.split('.')[0] in "
    code += "('django', 'dns', 'urllib3') or m.startswith('pools.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_type_checkers_see_every_name():
    """What is loaded when first used is declared for those who do not run the program."""
    source = (PAGE.parents[1] / "pools" / "__init__.py").read_text()
    import pools

    for name in pools.__all__:
        assert f" import {name} as {name}\n" in source
    assert (PAGE.parents[1] / "pools" / "py.typed").exists()


def test_the_library_needs_only_dnspython(tmp_path):
    """And that not before a name is looked up."""
    code = "import sys; from pools import AsyncHttpAgent, HttpAgent, HttpsAgent; "
    code += "print(sorted({m.split('.')[0] for m in sys.modules} & {'django', 'dns', 'urllib3', "
    code += "'requests', 'httpx', 'atributo_site'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n"
