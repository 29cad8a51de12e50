"""The examples of docs/pools.md, each run as a program of its own."""

import inspect
import re
import runpy
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

import pools
from pools.logic.pool.config import PoolConfig
from pools.logic.recovery import Recovery
from pools.net.http.message import AsyncRequestOptions, RequestOptions
from pools.net.pool.options import PoolLimits, PoolOptions
from tests.pools.http.web import Web
from tests.servers.dns.server import DNSServer

PAGE = Path(__file__).parents[2] / "docs" / "pools.md"
WITH_OPTIONS = [
    pools.HttpAgent, pools.HttpAgent.request, pools.AsyncHttpAgent.request, pools.ConnectionPool,
    pools.ConnectionPool.claim, pools.ConnectionSet, pools.DNSResolver, pools.StaticIpResolver,
    pools.resolver_for_ip_or_domain, pools.HealthPolicy, pools.OutlierPolicy, pools.StalePolicy,
    pools.Timeout, pools.Tls, pools.KangServer, PoolConfig, Recovery,
]  # fmt: skip
REST = {"self", "method", "url", "limits", "options"}
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
    for name in dir(pools):
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
    for name in dir(pools):
        assert f" import {name} as {name}\n" in source
    assert (PAGE.parents[1] / "pools" / "py.typed").exists()


def names_of(call):
    return {name for name in inspect.signature(call).parameters if name not in REST}


def test_type_checkers_see_every_option():
    limits = {field.name for field in fields(PoolConfig)} - {"recovery", "domain", "check_timeout"}
    assert PoolLimits.__annotations__.keys() == limits
    assert PoolOptions.__annotations__.keys() == limits | names_of(pools.ConnectionPool)
    assert RequestOptions.__annotations__.keys() == names_of(pools.HttpAgent.request)
    assert AsyncRequestOptions.__annotations__.keys() == names_of(pools.AsyncHttpAgent.request)


def test_the_library_needs_only_dnspython(tmp_path):
    """And that not before a name is looked up."""
    code = "import sys; from pools import AsyncHttpAgent, HttpAgent, HttpsAgent; "
    code += "print(sorted({m.split('.')[0] for m in sys.modules} & {'django', 'dns', 'urllib3', "
    code += "'requests', 'httpx', 'atributo_site'})); sys.modules['requests'] = None; "
    code += "exec('from pools import *'); print(ConnectionPool.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\nConnectionPool\n", done.stderr


@pytest.mark.parametrize("made", WITH_OPTIONS, ids=lambda made: made.__qualname__)
def test_every_option_is_on_the_page_with_its_default(made):
    lines = [line for line in PAGE.read_text().splitlines() if "`" in line or "KangServer" in line]
    missing = [
        name
        for name, parameter in inspect.signature(made).parameters.items()
        if name not in REST
        and not any(re.search(rf"\b{name}\b", line) and told(parameter, line) for line in lines)
    ]
    assert missing == []


def told(parameter, line):
    """Return whether a line names the default, if that is a plain value: 30000 ms may be 30 s."""
    default = parameter.default
    if isinstance(default, bool) or not isinstance(default, int | float) or default == float("inf"):
        return True
    line = re.sub(r"(?<=\d)[ _](?=\d{3})", "", line)
    return any(
        re.search(rf"(?<![\d.]){value:.15g}(?![\d.]\d)", line)
        for value in (default, default / 1000)
    )


def test_each_library_that_an_adapter_needs_is_an_extra():
    project = tomllib.loads((PAGE.parents[1] / "pyproject.toml").read_text())["project"]
    assert {"httpx", "requests", "urllib3"} <= project["optional-dependencies"].keys()
