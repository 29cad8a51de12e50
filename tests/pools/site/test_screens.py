"""The screens of pools and DNS."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command

from allocation.placement import operations
from atributo_site.console.pools import timeline
from atributo_site.core.models.clock import database_now
from pools.models import Backend, BackendChange, Pool, PoolSnapshot
from pools.snapshot import snapshot
from pools.timeline import note
from tests.pools.site.watching import SRV, states

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def two(watching):
    watching.targets(1, 2)
    watching.name()
    watching.sweep()
    return watching


def test_the_lists_show_names_backends_and_changes(client_as, two):
    client = client_as("viewer")
    assert "_http._tcp.svc.example" in client.get("/pools/").text
    assert "10.0.0.2:8002" in client.get("/pools/backends/?state=present").text
    assert "10.0.0.2:8002" not in client.get("/pools/backends/?state=gone").text
    assert "t1.example" in client.get("/pools/timeline/?pool=svc").text
    page = client.get("/pools/watched/svc/").text
    assert "Last lookup" in page
    assert "Maintenance" not in page


def test_a_name_is_found_by_its_domain_and_by_an_address(client_as, two):
    for text in ("svc", "svc.example", "10.0.0.1", "10.0.0.2:8002"):
        assert "/pools/watched/svc/" in client_as("viewer").get("/search/", {"q": text}).text


def test_an_operator_drains_a_backend_and_makes_it_ready(client_as, two):
    client, key = client_as("operator"), Backend.objects.get(port=8001).key
    url = f"/pools/watched/svc/backends/{key.replace('/', chr(0x1F))}"
    for word, state in (("drain", "draining"), ("ready", "available")):
        answer = client.post(url, {"administrative": word}, follow=True)
        assert f"10.0.0.1:8001: {word}." in answer.text
        assert states()["10.0.0.1:8001"] == state
    wrong = client.post(url, {"administrative": "fly"}, follow=True).text
    assert "Administrative: Select a valid choice. fly" in wrong


def test_draining_a_backend_says_what_it_means_and_stays_where_it_was_pressed(client_as, two):
    client, key = client_as("operator"), Backend.objects.get(port=8001).key
    here = "/pools/backends/?state=present"
    assert 'name="next" value="/pools/backends/?state=present"' in client.get(here).text
    url = f"/pools/watched/svc/backends/{key.replace('/', chr(0x1F))}"
    form = {"administrative": "drain", "reason": "disks", "next": here}
    answer = client.post(url, form, follow=True)
    assert answer.redirect_chain == [(here, 302)]
    said = 'until you <a href="/instances/10.0.0.1:8001/">give the drain a pace</a>'
    assert said in answer.text and ": disks" in answer.text
    form = {"administrative": "maintenance", "next": "https://elsewhere.example/"}
    answer = client.post(url, form, follow=True)
    assert answer.redirect_chain == [("/pools/watched/svc/", 302)]


def test_a_drain_of_a_backend_whose_instance_is_gone_promises_nothing(client_as, two):
    backend = Backend.objects.get(port=8001)
    operations.remove_instance(backend.instance_id)
    url = f"/pools/watched/svc/backends/{backend.key.replace('/', chr(0x1F))}"
    text = client_as("operator").post(url, {"administrative": "drain"}, follow=True).text
    assert "10.0.0.1:8001: drain." in text and "give the drain a pace" not in text


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ("", {"added", "gone", "stale"}),
        ("pool=svc&kind=gone", {"gone"}),
        ("kind=failed", set()),
        ("since=2h", {"gone", "stale"}),
        ("until=2h", {"added"}),
        ("pool=nobody", set()),
    ],
)
def test_the_timeline_is_filtered_by_name_kind_and_time(client_as, two, asked, kinds):
    BackendChange.objects.exclude(kind="added").delete()
    note(Pool.objects.get(), BackendChange.Kind.GONE)
    note(Pool.objects.get(), BackendChange.Kind.STALE)
    earlier = database_now() - timedelta(days=1)
    BackendChange.objects.filter(kind="added").update(at=earlier)
    answer = client_as("viewer").get(f"/pools/timeline/?{asked}")
    shown = {change.kind for change in answer.context["page"].rows}
    assert (answer.status_code, shown) == (200, kinds)
    assert ("No changes match" in answer.text) == (not kinds)


def test_a_wrong_filter_of_the_timeline_says_which(client_as, two):
    answer = client_as("viewer").get("/pools/timeline/?since=soon&kind=nothing")
    assert answer.status_code == 400
    assert "<strong>Since:</strong> &#x27;soon&#x27; is neither" in answer.text
    assert "<strong>What:</strong> Select a valid choice" in answer.text


def test_one_kind_is_looked_for_no_further_back_than_is_said(client_as, two, monkeypatch):
    monkeypatch.setattr(timeline, "LOOKED_THROUGH", 1)
    note(Pool.objects.get(), BackendChange.Kind.STALE)
    note(Pool.objects.get(), BackendChange.Kind.FRESH)
    text = client_as("viewer").get("/pools/timeline/?kind=added").text
    assert "Searched the newest 10,000 changes, back to" in text
    assert 'Set an earlier "Until" to search further back.' in text


def test_a_backend_says_how_long_it_was_gone_in_the_last_day(client_as, two):
    pool, backend = Pool.objects.get(), Backend.objects.get(port=8001)
    now = database_now()
    Backend.objects.update(first_seen_at=now - timedelta(days=9))
    for kind, hours in (("gone", 8), ("returned", 2)):
        made = BackendChange.objects.create(pool=pool, kind=kind, key=backend.key, actor="x")
        BackendChange.objects.filter(pk=made.pk).update(at=now - timedelta(hours=hours))
    BackendChange.objects.filter(kind="added").update(at=now - timedelta(days=9))
    assert "gone for 6h of the last day, 25%" in client_as("viewer").get("/pools/backends/").text


def test_an_administrator_watches_changes_and_forgets_a_name(client_as, loopback_permitted):
    client = client_as("admin")
    form = {
        "name": "web", "domain": "svc.example", "service": "_http._tcp", "default_port": 80,
        "nameservers": "127.0.0.1:5353, 127.0.0.1", "ttl_floor_ms": "5s",
        "ttl_ceiling_ms": "1h", "removal_share": 0.5, "grace_seconds": "1m",
        "recovery": '{"default": {"timeout": 100, "retries": 0, "delay": 0}}',
    }  # fmt: skip
    assert client.post("/pools/new/", form).status_code == 302
    assert Pool.objects.get().nameservers == ["127.0.0.1:5353", "127.0.0.1"]
    spans = Pool.objects.values_list("ttl_floor_ms", "ttl_ceiling_ms", "grace_seconds").get()
    assert spans == (5000, 3_600_000, 60)
    page = client.get("/pools/watched/web/change/").text
    assert [f'value="{span}"' in page for span in ("5s", "1h", "1m")] == [True, True, True]
    change = {**form, "domain": "other.example", "epoch": 1}
    assert client.post("/pools/watched/web/change/", change).status_code == 302
    assert (Pool.objects.get().domain, Pool.objects.get().epoch) == ("other.example", 2)
    assert client.post("/pools/watched/web/change/", change).status_code == 412
    assert "Nothing changed" in client.post("/pools/watched/web/forget", follow=True).text
    client.post("/pools/watched/web/forget", {"typed": "web"})
    assert not Pool.objects.exists()


def test_a_wrong_form_says_what_is_wrong(client_as):
    answer = client_as("admin").post("/pools/new/", {"name": "web", "domain": EVIL})
    assert (answer.status_code, EVIL in answer.text) == (400, False)
    assert "not a DNS name" in answer.text


def test_the_look_up_tool_shows_steps(client_as, two):
    form = {
        "host": "svc.example",
        "nameservers": f"127.0.0.1:{two.server.port}",
        "timeout_ms": 10_000,
    }
    client = client_as("operator")
    answer = client.post("/pools/look-up/", form)
    page = client.get(answer.headers["Location"]).text
    assert "<strong>2 backends</strong> for svc.example" in page
    assert "1 records" in page
    asked = len(two.server.queries)
    page = client_as("admin").get(answer.headers["Location"]).text  # signed for somebody else
    assert ("backends</strong>" in page, len(two.server.queries)) == (False, asked)


def test_the_look_up_tool_refuses_what_is_not_permitted(client_as):
    form = {"host": EVIL, "nameservers": "10.9.9.9"}
    page = client_as("operator").post("/pools/look-up/", form, follow=True)
    assert (page.status_code, EVIL in page.text) == (400, False)
    assert "may not be asked" in page.text


def test_resolve_now_and_pause_say_what_happened(client_as, two):
    Pool.objects.update(ttl_floor_ms=600_000)
    client = client_as("operator")
    answer = client.post("/pools/watched/svc/resolve", follow=True)
    assert "was just looked up: try again in " in answer.text
    assert "is paused" in client.post("/pools/watched/svc/pause", {"watch": "no"}, follow=True).text
    two.sweep()
    assert (Pool.objects.get().state, two.watch.names) == ("stopped", {})
    assert set(states().values()) == {"available"}


def test_texts_from_dns_and_processes_are_escaped(client_as, two):
    Backend.objects.update(name=EVIL)
    Pool.objects.update(last_error=EVIL, steps=[{"result": EVIL, "server": EVIL, "name": EVIL}])
    pool = {"state": EVIL, "options": {"domain": EVIL}, "connections": {"k": {EVIL: 1}}}
    PoolSnapshot.objects.create(process=EVIL, body={"pool": {"p": pool}})
    client = client_as("admin")
    for path in ("", "backends/", "timeline/", "live/", "watched/svc/"):
        assert EVIL not in client.get(f"/pools/{path}").text


def test_the_overview_tells_of_troubled_names(client_as, two):
    two.server.fault("*", "*", "servfail")
    two.again()
    page = client_as("viewer").get("/").text
    assert "Watched name svc: stale" in page
    assert "Backends in DNS" in page


def test_the_snapshot_takes_the_same_queries_for_any_number_of_names(
    two, django_assert_num_queries
):
    Pool.objects.bulk_create(
        [Pool(name=f"n{n}", domain="x.example", state="failed") for n in range(50)]
        + [Pool(name="calm", domain="x.example", is_watched=False)]
    )
    now = database_now()
    with django_assert_num_queries(4):
        taken = snapshot(now)
    assert taken["names"] == {"failed": 50, "paused": 1, "running": 1}
    assert taken["backends"] == {"present": 2}
    assert len(taken["troubled"]) == 5


def test_nothing_is_broken_after_changes_in_dns(two, capsys):
    two.server.set(SRV, "SRV", [(0, 0, 8001, "t1.example")], 10)
    two.again()
    two.again(5_100)
    call_command("verify")
    assert set(states().values()) == {"available", "draining"}


def test_a_followed_name_shows_what_changed_at_each_load(client_as, two, monkeypatch):
    monkeypatch.setattr("pools.lookup_tool.default_floor_ms", lambda: 0)
    client = client_as("operator")
    form = {
        "host": "svc.example",
        "nameservers": f"127.0.0.1:{two.server.port}",
        "timeout_ms": 10_000,
        "follow": "yes",
    }
    page = client.post("/pools/look-up/", form, follow=True).text
    assert (page.count("added</span>"), "t2.example 10.0.0.2 port 8002" in page) == (2, True)
    two.targets(1)
    assert "removed</span>" in client.get("/pools/look-up/follow/").text
    two.server.fault("*", "*", "servfail")
    page = client.get("/pools/look-up/follow/").text
    assert (page.count("removed</span>"), "SERVFAIL" in page) == (1, True)


def test_a_followed_name_is_asked_no_more_often_than_the_floor(client_as, two, monkeypatch):
    monkeypatch.setattr("pools.lookup_tool.default_floor_ms", lambda: 3_600_000)
    client = client_as("operator")
    form = {
        "host": "svc.example",
        "nameservers": f"127.0.0.1:{two.server.port}",
        "timeout_ms": 10_000,
        "follow": "yes",
    }
    client.post("/pools/look-up/", form, follow=True)
    asked = len(two.server.queries)
    client.get("/pools/look-up/follow/")
    assert len(two.server.queries) == asked


def test_several_names_are_followed_in_turn_and_each_can_be_left(client_as, two, monkeypatch):
    monkeypatch.setattr("pools.lookup_tool.default_floor_ms", lambda: 0)
    client = client_as("operator")
    form = {"nameservers": f"127.0.0.1:{two.server.port}", "timeout_ms": 10_000, "follow": "yes"}
    for host in ("svc.example", "other.example", "svc.example"):
        page = client.post("/pools/look-up/", {**form, "host": host}, follow=True).text
    keys = dict(re.findall(r'value="(\w+)" aria-label="Unfollow ([^"]+)"', page))
    assert sorted(keys.values()) == ["other.example", "svc.example"]
    asked = len(two.server.queries)
    client.get("/pools/look-up/follow/")
    client.get("/pools/look-up/follow/")
    since = {name for name, *_ in two.server.queries[asked:]}
    assert {"_http._tcp.svc.example", "_http._tcp.other.example"} <= since
    left = next(key for key, host in keys.items() if host == "svc.example")
    page = client.post("/pools/look-up/follow/", {"key": left}, follow=True).text
    assert "Unfollow other.example" in page and "Unfollow svc.example" not in page


def test_a_link_to_the_followed_name_asks_nothing_by_itself(client_as):
    answer = client_as("operator").get("/pools/look-up/follow/?host=svc.example")
    assert answer.headers["Location"] == "/pools/look-up/"
    assert client_as("viewer").get("/pools/look-up/follow/").status_code == 403


def test_live_pools_show_each_connection_and_how_long_claims_waited(client_as):
    pool = {
        "state": "running", "claim_wait_p95_ms": 12.34, "waiters": 3,
        "connections": {"k": {"idle": 1, "busy": 2, "connecting": 1}},
        "options": {"domain": "svc.example", "spares": 1, "maximum": 6},
    }  # fmt: skip
    PoolSnapshot.objects.create(process="web/a", body={"pool": {"p": pool}})
    page = client_as("viewer").get("/pools/live/").text
    assert 'aria-label="2 busy, 1 connecting, 1 idle, 2 free"' in page
    assert "12.3ms" in page


def test_a_backend_has_a_strip_of_its_last_day(client_as, two):
    two.targets(1)
    two.again()
    two.again(5_100)
    page = client_as("viewer").get("/pools/watched/svc/").text
    assert page.count('class="strip"') == 2
    assert '<rect class="is-gone"' in page
