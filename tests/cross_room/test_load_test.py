"""A load test measures, draws, and leaves nothing behind."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from allocation.models import Allocation, Instance, PastAllocation
from allocation.transactions import Transaction as OpenTransaction
from allocation.transactions.models import Document, JournalEntry, Transaction
from atributo_site.load import clients
from atributo_site.load.figures import Sample, figures, percentile
from atributo_site.load.fixture import LoadFixture, left_over, load_fixture
from atributo_site.load.report import Chart, drawn, nice
from queues.models import MinuteCount, Queue, QueuedJob, Slot

MADE = (Allocation, PastAllocation, Instance, Document, JournalEntry, Transaction, QueuedJob)


def report(*arguments):
    out = StringIO()
    call_command(
        "load_test", "--seconds", "0.2", "--clients", "2", "--json", *arguments, stdout=out
    )
    return json.loads(out.getvalue())


def what_is_left():
    """Return the rows that a load test makes; the default queue is always there."""
    left = {model.__name__ for model in MADE if model.objects.exists()}
    own = {"queue__name__startswith": "load-test-"}
    return left | {model.__name__ for model in (Slot, MinuteCount) if model.objects.filter(**own)}


@pytest.mark.django_db(transaction=True)
def test_a_load_test_measures_each_kind_and_cleans_up(tmp_path):
    kinds = report("--out", str(tmp_path))["kinds"]
    assert set(kinds) == {"pushes", "allocations", "transactions"}
    assert all(
        kind["operations"] > 0 and kind["p50_ms"] <= kind["p99_ms"] for kind in kinds.values()
    )
    assert [kind["errors"] for kind in kinds.values()] == [{}, {}, {}]
    assert what_is_left() == set()
    for name in ("rates.svg", "latencies.svg"):
        assert ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg")


@pytest.mark.django_db(transaction=True)
def test_each_client_does_something_although_the_time_is_over_at_once():
    kinds = report("--seconds", "0.000000001", "--clients", "3", "--kinds", "pushes")["kinds"]
    assert kinds["pushes"]["operations"] == 3


@pytest.mark.django_db(transaction=True)
def test_a_key_that_another_client_holds_is_refused_and_no_error(monkeypatch):
    def beside_a_holder(fixture, client):
        OpenTransaction(owner=fixture.name).put(fixture.collection, "key-0", {})
        return clients.transacting(fixture, client)

    monkeypatch.setattr(clients, "KEYS", clients.WRITES)
    monkeypatch.setitem(clients.ACTIONS, "transactions", beside_a_holder)
    found = report("--kinds", "transactions", "--clients", "1")["kinds"]["transactions"]
    assert found["refused"] > 0
    assert (found["operations"], found["errors"]) == (0, {})


@pytest.mark.django_db(transaction=True)
def test_what_is_available_stays_and_gets_no_new_keys_for_good(tmp_path):
    from allocation.atributo import Atributo

    Atributo().available("real")
    Atributo().allocate("customer")
    report("--kinds", "allocations")
    assert list(Instance.objects.values_list("pk", flat=True)) == ["real"]
    assert Atributo().jobs("real") == ["customer"]


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_load_test_left_can_be_removed():
    standing = load_fixture()
    made = standing.__enter__()
    assert left_over() == [LoadFixture(made.name)]
    said = StringIO()
    call_command("load_test", "--clean", "--json", stdout=said)
    assert json.loads(said.getvalue()) == {"removed": [made.name]}
    assert (left_over(), what_is_left()) == ([], set())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("told", [[], ["--on-production"], ["--i-mean-it"]])
def test_production_is_refused_unless_told_twice(told, settings, capsys):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, mode="production")
    with pytest.raises(SystemExit):
        report(*told)
    assert not Queue.objects.filter(name__startswith="load-test-").exists()


@pytest.mark.django_db(transaction=True)
def test_production_told_twice_is_measured(settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, mode="production")
    assert report("--on-production", "--i-mean-it", "--kinds", "pushes")["clients"] == 2


@pytest.mark.parametrize(
    "wrong",
    [["--seconds", "601"], ["--seconds", "0"], ["--clients", "65"], ["--clients", "0"]],
)
def test_the_load_is_bounded(wrong):
    with pytest.raises(CommandError):
        call_command("load_test", *wrong)


def test_a_folder_that_cannot_be_made_is_refused_before_the_load(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="Not a directory") as refused:
        call_command("load_test", "--out", str(tmp_path / "file" / "out"))
    assert refused.value.returncode == 2


def test_a_rate_counts_until_the_most_was_made():
    """10 operations in a second, although a minute was asked for."""
    sample = Sample(ended=[0.1 * n for n in range(1, 11)], took=[0.1] * 10)
    assert figures(sample, 60.0).per_second == 10.0


@given(st.lists(st.floats(0, 10**6), min_size=1), st.integers(1, 100))
def test_a_percentile_is_reached_by_its_share(values, percent):
    found = percentile(sorted(values), percent / 100)
    assert sum(value <= found for value in values) >= len(values) * percent / 100
    assert found in values


@given(st.floats(1e-6, 1e12))
def test_an_axis_ends_at_a_round_number_above(value):
    assert value <= nice(value) * (1 + 1e-9) and nice(value) <= value * 10


def test_a_chart_escapes_its_words():
    text = drawn(Chart("<b>", "&", '"', {"<i>": [(1.0, 2.0)]}))
    assert ElementTree.fromstring(text) is not None
