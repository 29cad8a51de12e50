"""The browser's door: instances, allocations, why here, the id decoder, raw lists."""

from datetime import timedelta
from urllib.parse import quote

import pytest

from allocation.atributo import Atributo
from allocation.instances import holds
from allocation.logic.drain import Move
from allocation.models import Drain, Instance
from allocation.models.instance import STATES
from allocation.placement import drains
from allocation.placement.moves import move_jobs
from allocation.snapshot import snapshot
from atributo_site.console.events.folding import events_of
from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(db):
    ao = Atributo()
    ao.available("instance0", capacity=10, labels={"zone": "north"})
    ao.available("a/b <i>")
    return ao


@pytest.fixture
def page(client_as):
    """page("/instances/") → status and text, as an operator; with a form it is posted."""
    client = client_as("operator")

    def open_page(path, form=None):
        answer = client.get(path) if form is None else client.post(path, form, follow=True)
        return answer.status_code, answer.content.decode()

    return open_page


def test_the_list_shows_state_load_and_labels_and_escapes_ids(page, two):
    two.allocate_many(f"job{n}" for n in range(4))
    status, text = page("/instances/")
    assert status == 200
    assert "zone=north" in text and "percent full" in text and "2 of 2 are available" in text
    assert "a/b &lt;i&gt;" in text and "<i>" not in text


def test_the_list_is_filtered_by_prefix_and_state(page, two):
    two.unavailable("instance0")
    assert "zone=north" not in page("/instances/?state=available")[1]
    assert "zone=north" in page("/instances/?prefix=inst&state=unavailable")[1]
    assert "No instance matches" in page("/instances/?prefix=nobody")[1]


@pytest.fixture
def one_in_each_state(db):
    ao = Atributo()
    for word in ("available", "unavailable", "draining", "drained", "dead"):
        ao.available(f"is-{word}")
    ao.unavailable("is-unavailable")
    drains.drain("is-draining")
    drains.drain("is-drained")
    Drain.objects.filter(pk="is-drained").update(done_at=database_now())
    Instance.objects.filter(pk="is-dead").update(available=False, is_dead=True)


@pytest.mark.parametrize("word", STATES)
def test_a_filter_for_each_state_finds_those_that_say_it(page, one_in_each_state, word):
    assert [row.state for row in Instance.objects.in_state(word)] == [word]
    text = page(f"/instances/?state={word}")[1]
    assert f"is-{word}</strong>" in text and text.count("<strong>is-") == 1
    assert f"<option selected>{word}</option>" in text
    assert f"manage.py instances list --state {word}" in text
    assert f"/api/v1/instances?state={word}" in text


def test_an_instance_is_made_available_drained_stopped_and_restored(page):
    assert "is available" in page("/instances/", {"id": "new one"})[1]
    base = "/instances/new%20one/"
    form = {"reason": "heat", "deadline_minutes": "5", "moves_per_minute": "60"}
    assert "The drain has started. The curator moves" in page(f"{base}drain", form)[1]
    assert "will move all remaining keys" in page(f"{base}force", {})[1]
    assert "stays unavailable" in page(f"{base}stop", {})[1]
    assert "available again" in page(f"{base}restore", {})[1]
    assert "keeps those it has" in page(f"{base}unavailable", {"reason": "x"})[1]
    assert "accepts new keys again" in page(f"{base}available", {})[1]
    assert set(Event.objects.values_list("channel", flat=True)) == {"browser"}


def test_who_drains_without_a_pace_is_told_that_nothing_moves(page, two):
    two.allocate("job")
    text = page("/instances/instance0/drain", {})[1]
    assert "keys leave when they are deallocated, or when you set a pace" in text
    assert "The curator moves" not in text


def test_a_wrong_drain_is_refused_with_a_sentence(page, two):
    text = page("/instances/instance0/drain", {"moves_per_minute": "-1"})[1]
    assert "greater than or equal to 1" in text
    assert Instance.objects.get(pk="instance0").available


def test_what_is_unavailable_and_still_has_jobs_can_be_drained(page, two):
    two.unavailable("a/b <i>")
    assert ">Drain<" not in page("/instances/a%2Fb%20%3Ci%3E/")[1]
    two.allocate("job")
    two.unavailable("instance0")
    _, text = page("/instances/instance0/")
    assert ">Drain<" in text and "Make unavailable" not in text
    assert page("/instances/instance0/drain", {"moves_per_minute": "5"})[0] == 200
    assert Drain.objects.get(pk="instance0").moves_per_minute == 5


def test_the_preview_of_a_drain_keeps_and_respects_what_was_typed(page, two):
    two.allocate_many(f"job{n}" for n in range(8))
    jobs = len(two.jobs("instance0"))
    form = {"reason": "heat & dust", "moves_per_minute": "60", "preview": "yes"}
    text = page("/instances/instance0/drain", form)[1]
    assert f"{jobs} of {jobs} keys" in text and "Would get" in text
    assert f"60 moves per minute, about {jobs}s to go" in text
    assert 'value="heat &amp; dust"' in text and 'value="60"' in text
    assert Instance.objects.get(pk="instance0").available


def test_the_preview_promises_no_move_where_nothing_would_be_moved(page, two):
    two.allocate_many(f"job{n}" for n in range(8))
    text = page("/instances/instance0/drain", {"preview": "yes"})[1]
    assert "Nothing moves; keys leave when they are deallocated." in text
    assert "Would get" not in text and '<span class="muted">nothing</span>' in text
    later = page("/instances/instance0/?plan&deadline_minutes=5")[1]
    assert "Nothing moves for 5m; then all remaining keys move." in later and "Would get" in later


def test_a_preview_of_what_cannot_be_is_refused(page, two):
    status, text = page("/instances/instance0/?plan&moves_per_minute=0")
    assert status == 400 and "greater than or equal to 1" in text and 'value="0"' in text


@pytest.mark.parametrize("path", ["/instances/instance0/drain", "/allocations/-/rebalance/"])
def test_a_pace_that_cannot_be_is_refused_in_words_without_tags(page, two, path):
    text = page(path, {"moves_per_minute": "0"})[1]
    assert "Moves per minute: Ensure this value is greater than or equal to 1." in text
    assert "errorlist" not in text


def test_the_page_says_how_jobs_leave_and_sets_the_pace_of_a_drain_that_runs(page, two):
    two.allocate_many(f"job{n}" for n in range(8))
    form = {"reason": "heat", "deadline_minutes": "90"}
    assert "Nothing moves for 1h" in page("/instances/instance0/drain", form)[1]
    deadline = Drain.objects.get().deadline_at
    paced = page("/instances/instance0/drain", {"running": "yes", "moves_per_minute": "2"})[1]
    assert "The pace is set." in paced and "2 moves per minute, about" in paced
    found = Drain.objects.get()
    assert (found.reason, found.moves_per_minute) == ("heat", 2)
    assert abs(found.deadline_at - deadline) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"deadline_minutes": "45m"}, "Nothing moves for 45m; then all remaining keys move."),
        ({"no_deadline": "yes"}, "Nothing moves; keys leave when they are deallocated."),
    ],
)
def test_the_deadline_of_a_drain_that_runs_is_changed_on_the_page(page, two, typed, said):
    two.unavailable("a/b <i>")
    two.allocate("job")
    drains.drain("instance0", reason="heat", deadline_seconds=5400)
    assert "Remove the deadline" in page("/instances/instance0/")[1]
    text = page("/instances/instance0/drain", {"running": "yes", **typed})[1]
    assert "Pace and deadline are set." in text and said in text
    assert Drain.objects.get().reason == "heat"
    facts = Event.objects.get(kind="instance.drain_adjusted").facts
    assert facts["deadline_seconds"] == (2700 if "deadline_minutes" in typed else None)


@pytest.mark.parametrize("typed", ["soon", "-1", "999999d"])
def test_a_deadline_that_cannot_be_changes_nothing_of_a_drain_that_runs(page, two, typed):
    drains.drain("instance0", deadline_seconds=5400)
    before = Drain.objects.get().deadline_at
    form = {"running": "yes", "moves_per_minute": "5", "deadline_minutes": typed}
    assert "Deadline minutes: " in page("/instances/instance0/drain", form)[1]
    form |= {"deadline_minutes": "5", "no_deadline": "yes"}
    assert "not both" in page("/instances/instance0/drain", form)[1]
    assert (Drain.objects.get().deadline_at, Drain.objects.get().moves_per_minute) == (before, None)


def test_the_reason_for_making_it_unavailable_is_asked_for_and_shown(page, two):
    form = page("/instances/instance0/")[1].partition('/unavailable"')[2].partition("</form>")[0]
    assert 'name="reason"' in form
    assert "a new disk" in page("/instances/instance0/unavailable", {"reason": "a new disk"})[1]


def test_the_pace_of_a_drain_that_is_over_begins_no_other(page, two):
    text = page("/instances/instance0/drain", {"running": "yes", "moves_per_minute": "2"})[1]
    assert "instance0 is no longer draining." in text
    assert Instance.objects.get(pk="instance0").available


def test_setting_the_pace_leaves_the_decision_with_dns(page, two):
    two.available("leaving", source="dns")
    drains.drain("leaving", source="dns")
    assert "The pace is set." in page("/instances/leaving/drain", {"running": "yes"})[1]
    assert Instance.objects.get(pk="leaving").source == "dns"


def test_the_moves_of_a_drain_are_one_row_and_its_cause_stays_in_sight(page, two):
    drains.drain("instance0", reason="new kernel")
    for _ in range(30):
        record("instance.jobs_moved", "instance:instance0", count=2)
    record("instance.drained", "instance:instance0", moved=60)
    text = page("/instances/instance0/")[1]
    assert "60 keys moved in 30 steps" in text and text.count(">instance.jobs_moved<") == 1
    assert "Reason: new kernel." in text and "/events/?subject=instance:instance0" in text


def test_more_steps_take_no_more_queries(two, django_assert_num_queries):
    for _ in range(3):
        record("instance.drain_forced", "instance:a")
        record("instance.jobs_moved", "instance:a", count=1)
        record("instance.jobs_moved", "instance:a", count=1)
    with django_assert_num_queries(2):
        rows = events_of("instance:a", 4)
    assert [getattr(row, "jobs", row.kind) for row in rows] == [2, "instance.drain_forced"] * 2


def test_moving_all_jobs_at_once_asks_with_their_number(page, client_as, two):
    two.allocate_many(f"job{n}" for n in range(8))
    jobs = len(two.jobs("instance0"))
    assert "Move all keys now" not in page("/instances/instance0/?force")[1]
    drains.drain("instance0")
    assert f"Move {jobs} keys now" not in page("/instances/instance0/")[1]
    assert f"Move {jobs} keys now" in page("/instances/instance0/?force")[1]
    assert f"Move {jobs} keys" not in client_as("viewer").get("/instances/instance0/?force").text


def test_each_way_back_says_what_it_does_and_only_one_is_offered_where_they_are_equal(page, two):
    two.available("leaving", source="dns")
    for name in ("instance0", "leaving"):
        drains.drain(name)
    mine, theirs = page("/instances/instance0/")[1], page("/instances/leaving/")[1]
    assert "The drain ends." in mine and "Make available" not in mine
    assert "After that, DNS decides." in theirs and "DNS cannot undo it." in theirs
    assert "The instance stays unavailable" in mine


def test_what_changes_an_instance_stands_before_its_jobs_which_are_counted(page, two):
    two.unavailable("a/b <i>")
    Instance.objects.filter(pk="instance0").update(capacity=None)
    two.allocate_many(f"job{n}" for n in range(30))
    text = page("/instances/instance0/")[1]
    assert text.index('id="do-title"') < text.index('id="jobs-title"')
    assert "20 of 30" in text and "<th>Placed by</th>" in text


def test_removing_asks_for_the_id_and_says_how_many_jobs_are_dropped(page, two):
    two.allocate_many(f"job{n}" for n in range(4))
    jobs = len(two.jobs("instance0"))
    path = "/instances/instance0/remove"
    assert f"{jobs} keys are dropped" in page(path)[1]
    assert page(path, {"typed": "instance", "jobs": jobs})[0] == 400
    assert page(path, {"typed": "instance0", "jobs": jobs + 1})[0] == 409
    assert f"{jobs} keys were dropped" in page(path, {"typed": "instance0", "jobs": jobs})[1]


def test_a_held_instance_cannot_be_removed(page, two):
    holds.hold("instance0", "running job", "1")
    status, text = page("/instances/instance0/remove", {"typed": "instance0", "jobs": 0})
    assert status == 409 and "1 × running job" in text


def test_allocations_are_found_by_prefix_and_instance(page, two):
    two.allocate_many(["x-first", "x-second", "y-other"])
    assert "x-first" in page("/allocations/?prefix=x-")[1]
    assert "y-other" not in page("/allocations/?prefix=x-")[1]
    where = quote(two.instance("y-other"), safe="")
    assert "y-other" in page(f"/allocations/?instance={where}")[1]
    assert "No allocation matches" in page("/allocations/?prefix=z")[1]


def test_a_job_id_that_is_not_allocated_leads_to_where_it_would_go(page, two):
    text = page("/allocations/?prefix=a/b%20%3Ci%3E")[1]
    assert (
        '<a href="/allocations/a%1Fb%20%3Ci%3E/">See where this key is, was and would go</a>'
        in text
    )
    assert "Where it would go today" in page("/allocations/a%1Fb%20%3Ci%3E/")[1]
    assert "would go</a>" not in page("/allocations/?instance=nobody")[1]
    two.allocate("known")
    assert "would go</a>" not in page("/allocations/?prefix=kn")[1]


def test_a_job_is_allocated_explained_and_deallocated(page, two):
    assert "placed now" in page("/allocations/", {"job_id": "a/b c"})[1]
    path = "/allocations/a%1Fb%20c/"
    assert "Chosen by md5-modulo from 2 instances" in page(path)[1]
    assert "is deallocated" in page(f"{path}deallocate", {})[1]
    assert "Earlier instances" in page(path)[1] and "deallocated" in page(path)[1]
    assert "It is on" in page(f"{path}allocate", {})[1]


def test_the_page_of_a_job_says_from_where_it_was_moved_and_why(page, two):
    two.allocate("job")
    left, reached = two.instance("job"), ({"instance0", "a/b <i>"} - {two.instance("job")}).pop()
    move_jobs([Move("job", left, reached)], "drain")
    text = page("/allocations/job/")[1]
    assert "Moved here from <a" in text and "by its drain." in text and "<th>Epoch <details" in text
    assert "Its instance is" not in text


@pytest.mark.parametrize("state", ["unavailable", "draining"])
def test_the_page_of_a_job_says_that_its_instance_is_not_available(page, two, state):
    two.allocate("job")
    where = two.instance("job")
    {"unavailable": two.unavailable, "draining": drains.drain}[state](where)
    assert f"Its instance is {state}." in page("/allocations/job/")[1]


def test_a_job_that_was_never_seen_has_a_page_too(page, two):
    assert "not allocated to any instance" in page("/allocations/nobody/")[1]


def test_the_decoder_reads_an_id_and_refuses_what_is_none(page):
    assert "42 (cluster size 100)" in page("/job-ids/?id=25022512311472342")[1]
    assert page("/job-ids/?id=12")[0] == 400
    assert page("/job-ids/")[0] == 200


def test_what_is_not_there_is_404(page):
    assert page("/instances/nobody/")[0] == 404


def test_a_verb_that_nobody_knows_is_404(page, two):
    assert page("/instances/instance0/explode", {})[0] == 404
    assert page("/allocations/job/explode", {})[0] == 404


def test_a_viewer_sees_everything_and_changes_nothing(client_as, two):
    viewer = client_as("viewer")
    two.allocate("job")
    for path in ("/instances/", "/instances/instance0/", "/allocations/", "/allocations/job/"):
        assert viewer.get(path).status_code == 200
    for path in ("/instances/", "/instances/instance0/drain", "/instances/instance0/remove"):
        assert viewer.post(path, {"id": "x", "typed": "instance0"}).status_code == 403
    assert Instance.objects.available().count() == 2


@pytest.mark.parametrize(
    "name", ["instance", "allocation", "pastallocation", "drain", "hold", "idnumber"]
)
def test_the_raw_lists_open(client_as, two, name):
    two.allocate("job")
    assert client_as("viewer").get(f"/admin/allocation/{name}/").status_code == 200


def test_the_snapshot_takes_a_constant_number_of_queries(two, django_assert_num_queries):
    for n in range(60):
        two.available(f"more{n}")
    two.allocate_many(f"job{n}" for n in range(30))
    with django_assert_num_queries(8):
        taken = snapshot(database_now())
    assert (taken["instances_total"], len(taken["instances"])) == (62, 50)
    assert (taken["jobs_allocated"], taken["instances_left_out"]) == (30, 12)
