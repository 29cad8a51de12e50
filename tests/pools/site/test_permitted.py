"""Only permitted nameservers are asked, and DNS brings in no address of this machine."""

from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError

from pools import configuration
from pools.errors import CannotLookUp
from pools.lookup_tool import look_up
from pools.models import Backend, BackendChange, Pool
from tests.pools.site.watching import SRV, states

SPECIAL = ["127.0.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255"]


@pytest.mark.parametrize(
    "server",
    ["10.9.9.9", "127.0.0.1:6379", "127.0.0.1:22", "[::1]:53", "[::ffff:127.0.0.1]:53", "0x7f.1",
     "a b", "http://127.0.0.1/", "file:///etc/passwd", ""],
)  # fmt: skip
def test_other_nameservers_are_refused(db, server):
    with pytest.raises(ValidationError):
        configuration.watch("x", domain="svc.example", nameservers=[server])
    with pytest.raises(CannotLookUp):
        look_up("svc.example", nameservers=[server])


def test_the_nameservers_of_the_settings_are_always_permitted(db, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_servers=("127.0.0.1:5353",))
    configuration.watch("x", domain="svc.example", nameservers=["127.0.0.1:5353"])


@pytest.mark.parametrize("address", SPECIAL)
def test_a_target_on_this_machine_or_its_link_becomes_no_instance(watching, address):
    watching.server.set(SRV, "SRV", [(0, 0, 80, "evil.example")], 10)
    watching.server.set("evil.example", "A", [address], 10)
    watching.name()
    watching.sweep()
    assert (states(), Backend.objects.get().state) == ({}, "refused")
    assert "ATRIBUTO_DNS_TARGET_NETWORKS" in BackendChange.objects.get(kind="refused").detail


def test_a_refused_target_that_is_permitted_later_becomes_an_instance(watching, settings):
    watching.server.set(SRV, "SRV", [(0, 0, 80, "here.example")], 10)
    watching.server.set("here.example", "A", ["127.0.0.9"], 10)
    watching.name()
    watching.sweep()
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_target_networks=("127.0.0.0/8",))
    watching.again()
    assert states() == {"127.0.0.9:80": "available"}


def test_a_name_that_turns_to_this_machine_is_refused_and_drains(watching):
    """DNS rebinding: a public address comes first, a private one later."""
    watching.targets(1, 2, 3)
    watching.name()
    watching.sweep()
    watching.server.set("t3.example", "A", ["127.0.0.1"], 10)
    watching.again()
    assert states() == {
        "10.0.0.1:8001": "available",
        "10.0.0.2:8002": "available",
        "10.0.0.3:8003": "draining",
    }


def test_a_nameserver_that_is_no_longer_permitted_is_not_asked(watching, settings):
    watching.targets(1)
    watching.name()
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=())
    watching.sweep()
    assert (watching.server.queries, Pool.objects.get().state) == ([], "failed")


def test_nameservers_behind_a_name_are_asked_if_they_are_permitted(watching, settings):
    """The name leads to one nameserver that may be asked and to one that may not."""
    watching.targets(1)
    port = watching.server.port
    two = [(0, 0, port, "good.example"), (0, 0, port, "bad.example")]
    watching.server.set("_dns._udp.ns.example", "SRV", two, 60)
    watching.server.set("good.example", "A", ["127.0.0.1"], 60)
    watching.server.set("bad.example", "A", ["10.9.9.9"], 60)
    here = f"127.0.0.1:{port}"
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_servers=(here,), dns_server_networks=())
    watching.name(nameservers=["ns.example"])
    assert watching.sweep() == 1
    (name,) = watching.watch.names.values()
    assert name.resolver.nameservers == (here,)
    assert look_up("svc.example", nameservers=["ns.example"], timeout_ms=10_000).state == "running"


def test_a_name_beside_other_nameservers_is_refused(db):
    with pytest.raises(ValidationError, match="one single name"):
        configuration.watch("x", domain="svc.example", nameservers=["ns.example", "10.0.0.1"])
