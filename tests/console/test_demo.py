"""The demo fills an empty site and leaves a full one alone."""

from dataclasses import replace
from datetime import timedelta

import dns.message
import pytest
from django.core.management import call_command

import queues
from allocation.atributo import Atributo
from allocation.models import Allocation, Instance
from allocation.transactions import Client
from allocation.transactions.curator import operator_actions
from allocation.transactions.models import Lock, Transaction
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.demo import network, pools, ports
from pools.models import BackendChange, Pool
from queues.models import Flow, QueuedJob, Schedule
from queues.queries.history import RANGES, history
from services.fragile.scripts.stick import run as stick
from services.traffic.scripts.push import run as push_traffic

pytestmark = pytest.mark.django_db


def test_an_empty_site_gets_instances_keys_and_documents():
    call_command("seed_demo")
    assert Allocation.objects.count() == 240
    assert set(Instance.objects.filter(available=False).values_list("id", flat=True)) == {
        "alan",
        "katherine",
        "10.20.0.3:8080",
    }


def test_told_again_it_adds_jobs_and_leaves_the_documents_alone():
    call_command("seed_demo")
    jobs = QueuedJob.objects.count()
    call_command("seed_demo", "--force")
    assert QueuedJob.objects.count() > jobs
    states = dict(Schedule.objects.values_list("name", "pause_reason"))
    assert {name for name, reason in states.items() if reason} == {"monthly-closing"}
    assert len(states) == 3
    assert set(Flow.objects.values_list("key", flat=True)) == {"acme", "globex", "initech"}
    assert Client().get("accounts", "ada")["balance"] == 90


@pytest.mark.only_on("sqlite")  # the story is the same on either
def test_one_transfer_happened_and_one_did_not():
    call_command("seed_demo")
    client = Client()
    balances = {n: client.get("accounts", n)["balance"] for n in ("ada", "grace", "edsger")}
    assert balances == {"ada": 90, "grace": 110, "edsger": 45}


@pytest.mark.only_on("sqlite")  # the story is the same on either
def test_an_order_is_open_until_the_curator_finds_its_client_gone():
    call_command("seed_demo")
    held = Lock.objects.values_list("document__collection", "document__key")
    assert set(held) == {("orders", "2042"), ("stock", "teapot")}
    assert Client().get("stock", "kettle")["count"] == 11


@pytest.mark.only_on("sqlite")  # refused before anything is written
def test_a_site_with_content_is_left_alone_unless_told(capsys):
    Atributo().available("mine")
    with pytest.raises(SystemExit) as stop:
        call_command("seed_demo")
    assert stop.value.code == 1
    assert "there is content already (allocation)" in capsys.readouterr().err
    assert list(Instance.objects.values_list("id", flat=True)) == ["mine"]
    call_command("seed_demo", "--force")
    assert Instance.objects.count() == 10


@pytest.mark.only_on("sqlite")  # the story is the same on either
def test_the_demo_is_on_the_timeline():
    call_command("seed_demo")
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"demo.made", "instance.draining"} <= kinds


@pytest.mark.only_on("sqlite")  # the story is the same on either
def test_somebody_holds_a_lock_whenever_a_new_user_looks():
    call_command("seed_demo")
    again = QueuedJob.objects.get(script="stick")
    assert (again.repeat_times, again.repeat_delay_ms) == (-1, 60_000)
    stick(Context())
    held = Lock.objects.filter(transaction=Transaction.objects.get(status="stuck"))
    keys = dict(held.values_list("document__collection", "document__key"))
    assert (keys.keys(), keys["stock"]) == ({"orders", "stock"}, "saucer")
    stick(Context())
    stuck = Transaction.objects.get(status="stuck")
    operator_actions.retry(stuck.pk, "there is space again")
    assert stick(Context()) is None  # what a person cured stays cured
    assert not Transaction.objects.filter(status="stuck").exists()


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("_http._tcp.store.demo.invalid", "SRV", "0 10 5001 ann.store.demo.invalid."),
        ("cleo.store.demo.invalid", "A", "127.0.0.1"),
        ("store.demo.invalid", "A", "NOERROR"),
        ("other.invalid", "A", "NXDOMAIN"),
    ],
)
def test_the_name_server_of_the_demo_knows_its_names(name, kind, said):
    query = dns.message.make_query(name, kind)
    response = dns.message.from_wire(network.answer(query.to_wire(), 5000))
    assert response.id == query.id and said in response.to_text()


def test_the_name_of_the_demo_is_watched_wherever_its_server_listens(settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.1/32:*",))
    port = ports.free_block()
    pools.watch(port)
    assert pools.network_port() == port
    pools.watch(port + 9)
    assert Pool.objects.get(name="store").nameservers == [f"127.0.0.1:{port + 9}"]


def test_the_site_permits_the_network_of_the_demo_and_no_more():
    granted = ports.permits(5000, ["10.0.0.53"], [])
    assert granted["ATRIBUTO_DNS_SERVER_NETWORKS"] == "10.0.0.53,127.0.0.1/32:5000"
    targets = granted["ATRIBUTO_DNS_TARGET_NETWORKS"].split(",")
    assert targets == [f"127.0.0.1/32:{port}" for port in (5001, 5002, 5003)]


class Context:
    dry_run = False
    client = Client()

    def push(self, script, data, *, queue, **options):
        queues.get(queue).push(script, data, **options)


def test_traffic_goes_on_as_the_history_before_it():
    call_command("seed_demo")
    again = QueuedJob.objects.get(script="push")
    assert (again.repeat_times, again.repeat_delay_ms) == (-1, 60_000)
    seeded = QueuedJob.objects.count()
    begun = database_now()
    pushed = push_traffic(Context())
    assert set(pushed) == {"mail", "numbers", "imports"}
    assert QueuedJob.objects.count() - seeded == sum(pushed.values())
    assert QueuedJob.objects.filter(due_at__gt=begun + timedelta(seconds=20)).count() > 10
    before = history(begun, RANGES["1h"])[-3]
    assert sum(pushed.values()) == pytest.approx(before["complete"] + before["failed"], rel=0.3)


def test_a_backend_flaps_and_charts_have_a_shape():
    call_command("seed_demo")
    kinds = BackendChange.objects.filter(backend__contains="shop-3").values_list("kind", flat=True)
    assert sorted(kinds) == ["added"] + ["gone"] * 4 + ["returned"] * 3
    points = history(database_now(), RANGES["24h"])
    assert all(point["complete"] for point in points[:-1])
    assert len({point["failed"] for point in points}) > 3
