"""Show what a name or address resolves to: the core of the command `resolve`."""

import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from getopt import GetoptError, gnu_getopt
from typing import Any, TextIO

from pools.logic.backends import Backend
from pools.logic.dns.names import parse_host_port
from pools.logic.errors import InvalidInput, PoolError
from pools.net.dns.base import Resolver, StaticIpResolver
from pools.net.dns.pick import resolver_for_ip_or_domain
from pools.net.runtime.kang import KangServer

USAGE = """\
usage: resolve HOSTNAME[:PORT]                # for DNS-based lookup
       resolve -S | --static IP[:PORT]...     # for static IPs
Locate services in DNS.

The following options are available for DNS-based lookups:

    -f, --follow                periodically re-resolve and report changes
    -p, --port PORT             default backend port
    -r, --resolvers IP[,IP...]  list of DNS resolvers
    -s, --service SERVICE       "service" name (for SRV)
    -t, --timeout TIMEOUT       timeout for lookups (1500, 1500ms, 5s, 1m)
    -k, --kang-port PORT        serve a snapshot at http://127.0.0.1:PORT/kang/snapshot
"""
LONG = ["follow", "port=", "resolvers=", "service=", "timeout=", "kang-port=", "static", "help"]
TIMEOUT = re.compile(r"([1-9][0-9]*)(ms|s|m)?\Z", re.ASCII)
UNITS = {None: 1, "ms": 1, "s": 1000, "m": 60_000}
DEFAULT_TIMEOUT_MS = 5000
DEFAULT_PORT = 80
SILENT = logging.Logger("resolve", logging.CRITICAL)  # what fails is printed already


class UsageError(Exception):
    """The arguments make no sense."""


@dataclass
class Options:
    inputs: list[str]
    follow: bool = False
    static: bool = False
    port: int | None = None
    kang_port: int | None = None
    service: str | None = None
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    resolvers: list[str] = field(default_factory=list)


def main(
    argv: Sequence[str],
    stdout: TextIO = sys.stdout,
    stderr: TextIO = sys.stderr,
    stop: threading.Event | None = None,
    environ: Mapping[str, str] = os.environ,
    resolver_options: Mapping[str, Any] | None = None,
) -> int:
    """Return 0 when backends were found, 1 when not, 2 when the arguments make no sense."""
    more = dict(resolver_options or {})
    if environ.get("LOG_LEVEL"):
        logging.basicConfig(stream=stderr, level=environ["LOG_LEVEL"].upper())
    else:
        more.setdefault("log", SILENT)
    try:
        options = parse(argv)
        resolver = make_resolver(options, more)
        if options.follow and options.static:
            print("error: --follow is for DNS-based lookups only", file=stderr)
            return 1
        describe(options, stderr)
        return run(resolver, options, stdout, stderr, stop or threading.Event())
    except (UsageError, InvalidInput, GetoptError) as error:
        if environ.get("DEBUG"):
            traceback.print_exc(file=stderr)
        print(f"error: {error}" if str(error) else "", USAGE, sep="\n", end="", file=stderr)
        return 2


def parse(argv: Sequence[str]) -> Options:
    flags, inputs = gnu_getopt(list(argv), "fp:r:s:t:k:Sh", LONG)
    options = Options(inputs)
    for name, value in flags:
        _set(options, name, value)
    if not inputs:
        raise UsageError("a host name or address is missing")
    if len(inputs) > 1 and not options.static:
        raise UsageError("only one host name or address at a time")
    return options


def _set(options: Options, name: str, value: str) -> None:
    match name:
        case "-f" | "--follow":
            options.follow = True
        case "-S" | "--static":
            options.static = True
        case "-p" | "--port":
            options.port = _port(value)
        case "-k" | "--kang-port":
            options.kang_port = _port(value)
        case "-s" | "--service":
            options.service = value
        case "-t" | "--timeout":
            options.timeout_ms = _timeout_ms(value)
        case "-r" | "--resolvers":
            options.resolvers += [text for text in value.split(",") if text]
        case _:
            raise UsageError("")


def _port(text: str) -> int:
    if not re.match(r"[0-9]{1,5}\Z", text, re.ASCII) or int(text) > 65535:
        raise UsageError(f"bad port: {text}")
    return int(text)


def _timeout_ms(text: str) -> int:
    match = TIMEOUT.match(text)
    if match is None:
        raise UsageError(f"bad timeout: {text}")
    return int(match[1]) * UNITS[match[2]]


def make_resolver(options: Options, more: Mapping[str, Any]) -> Resolver:
    if options.static:
        default = options.port or DEFAULT_PORT
        parsed = [parse_host_port(text) for text in options.inputs]
        backends = [{"address": host.host, "port": host.port or default} for host in parsed]
        return StaticIpResolver(backends)
    config: dict[str, Any] = {"recovery": _recovery(options.timeout_ms), **more}
    if options.port:
        config["default_port"] = options.port
    if options.service is not None:
        config["service"] = options.service
    if options.resolvers:
        config["resolvers"] = options.resolvers
    return resolver_for_ip_or_domain(options.inputs[0], config)


def _recovery(timeout_ms: int) -> dict[str, dict[str, float]]:
    """Allow one attempt at each step, so that the output comes soon."""
    return {"default": {"retries": 0, "timeout": timeout_ms, "delay": 1000, "max_delay": 1000}}


def describe(options: Options, stderr: TextIO) -> None:
    given = {"service": options.service, "port": options.port or None}
    if options.static:
        print("using static IP resolver", file=stderr)
        if options.service or options.resolvers:
            print("note: --service and --resolvers are ignored", file=stderr)
        return
    print(f"domain: {options.inputs[0]}", file=stderr)
    plural = "" if options.timeout_ms == 1 else "s"
    print(f"timeout: {options.timeout_ms} millisecond{plural}", file=stderr)
    for name, value in given.items():
        if value is not None:
            print(f"{name}: {value}", file=stderr)
    if options.resolvers:
        print(f"resolvers: {', '.join(options.resolvers)}", file=stderr)


def run(
    resolver: Resolver, options: Options, stdout: TextIO, stderr: TextIO, stop: threading.Event
) -> int:
    try:
        kang = KangServer(options.kang_port) if options.kang_port is not None else None
    except OSError as error:
        print(f"error: port {options.kang_port} cannot be served: {error.strerror}", file=stderr)
        return 1
    try:
        if options.follow:
            return _follow(resolver, stdout, stderr, stop)
        return _once(resolver, stdout, stderr)
    finally:
        resolver.stop()
        if kang is not None:
            kang.close()


def _once(resolver: Resolver, stdout: TextIO, stderr: TextIO) -> int:
    resolver.start()
    if resolver.wait_for_state("running", "failed") == "failed":
        print(f"error: {resolver.last_error}", file=stderr)
        return 1
    for key, backend in resolver.list().items():
        print(f"{backend.address:<16} {backend.port:>5} {key}", file=stdout)
    return 0


def _follow(resolver: Resolver, stdout: TextIO, stderr: TextIO, stop: threading.Event) -> int:
    """Print changes until `stop` is set; report a failure once, when it begins."""
    known: dict[str, Backend] = {}
    told: list[str | None] = [None]

    def added(key: str, backend: Backend) -> None:
        known[key] = backend
        _report("added", key, backend, stdout)

    def updated(error: PoolError | None) -> None:
        text = None if error is None else str(error)
        if text not in (None, told[0]):
            print(f"{_iso_now()} error: {text}", file=stderr, flush=True)
        told[0] = text

    resolver.on("added", added)
    resolver.on("removed", lambda key: _report("removed", key, known.pop(key), stdout))
    resolver.on("updated", updated)
    resolver.start()
    try:
        stop.wait()
    except KeyboardInterrupt:
        return 0
    return 0


def _report(word: str, key: str, backend: Backend, stdout: TextIO) -> None:
    where = f"{backend.address:>16}:{backend.port:<5}"
    print(f"{_iso_now()} {word:<7} {where} ({key})", file=stdout, flush=True)


def _iso_now() -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return now.replace("+00:00", "Z")
