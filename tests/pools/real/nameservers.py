"""Run name servers of Debian's packages, all of them with the same zone."""

import getpass
from contextlib import contextmanager

from tests.pools.real.programs import program, running
from tests.servers.ports import free_port

NAMES = 1000
TARGETS = 60  # so many that their SRV records do not fit into a datagram
KINDS = ["bind", "knot", "unbound", "dnsmasq"]


def zone():
    """Return the lines of a zone: many plain names, a service, an alias and a name with IPv6."""
    lines = [
        "example. 60 IN SOA ns.example. admin.example. 1 60 60 60 60",
        "example. 60 IN NS ns.example.",
        "ns.example. 60 IN A 127.0.0.1",
        "both.example. 60 IN A 10.2.0.1",
        "both.example. 60 IN AAAA fd00::1",
        "alias.example. 60 IN CNAME both.example.",
    ]
    lines += [f"n{i}.example. 60 IN A 10.0.{i // 250}.{i % 250}" for i in range(NAMES)]
    for i in range(TARGETS):
        target = f"target-{i}.example."
        lines.append(f"_http._tcp.large.example. 60 IN SRV 0 {i % 3} {8000 + i} {target}")
        lines.append(f"{target} 60 IN A 10.1.0.{i + 1}")
    return lines


@contextmanager
def nameserver(kind, folder):
    folder.mkdir()
    port = free_port()
    (folder / "zone").write_text("\n".join(zone()) + "\n")
    with running(COMMANDS[kind](folder, port), port) as server:
        yield server


BIND = """
options {{
  directory "{folder}"; pid-file none; session-keyfile none;
  listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  recursion no; allow-query {{ any; }}; dnssec-validation no; notify no;
}};
controls {{ }};
zone "example" {{ type primary; file "{folder}/zone"; }};
"""


def bind(folder, port):
    (folder / "named.conf").write_text(BIND.format(folder=folder, port=port))
    return [program("named"), "-g", "-4", "-n", "1", "-c", str(folder / "named.conf")]


KNOT = """
server:
    listen: 127.0.0.1@{port}
    rundir: {folder}
database:
    storage: {folder}
zone:
  - domain: example
    storage: {folder}
    file: zone
    zonefile-sync: -1
"""


def knot(folder, port):
    (folder / "knot.conf").write_text(KNOT.format(port=port, folder=folder))
    return [program("knotd"), "-c", str(folder / "knot.conf")]


UNBOUND = """
server:
    interface: 127.0.0.1@{port}
    directory: "{folder}"
    chroot: ""
    username: ""
    pidfile: ""
    use-syslog: no
    do-daemonize: no
    do-not-query-localhost: no
    module-config: "iterator"
auth-zone:
    name: example
    zonefile: "{folder}/zone"
    for-downstream: yes
    for-upstream: no
remote-control:
    control-enable: no
"""


def unbound(folder, port):
    (folder / "unbound.conf").write_text(UNBOUND.format(port=port, folder=folder))
    return [program("unbound"), "-d", "-c", str(folder / "unbound.conf")]


def dnsmasq(folder, port):
    """It knows no zone files, so the same records are options."""
    lines = [f"port={port}", "listen-address=127.0.0.1", "bind-interfaces", "no-resolv", "no-hosts"]
    lines += ["local=/example/", "local-ttl=60", f"user={getpass.getuser()}", "pid-file="]
    lines += ["cname=alias.example,both.example"]
    for name, _, _, rdtype, *values in map(str.split, zone()):
        if rdtype in ("A", "AAAA"):
            lines.append(f"host-record={name.rstrip('.')},{values[0]}")
        elif rdtype == "SRV":
            priority, weight, port_of_target, target = values
            where = f"{target.rstrip('.')},{port_of_target},{priority},{weight}"
            lines.append(f"srv-host={name.rstrip('.')},{where}")
    (folder / "dnsmasq.conf").write_text("\n".join(lines) + "\n")
    return [program("dnsmasq"), "--keep-in-foreground", f"--conf-file={folder}/dnsmasq.conf"]


COMMANDS = {"bind": bind, "knot": knot, "unbound": unbound, "dnsmasq": dnsmasq}
