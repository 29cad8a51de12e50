"""REST: instances, allocations and job ids as programs meet them."""

import json
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from allocation.atributo import Atributo
from allocation.instances import holds
from allocation.models import Allocation, Instance
from allocation.placement import drains
from atributo_site.core.models import Event

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture
def rest(rest_as):
    """rest("post", "/instances", {…}) → status, body and headers, as an operator."""
    client = rest_as("operator")

    def call(method, path, body=None, **headers):
        data = {} if body is None else {"data": json.dumps(body)}
        answer = getattr(client, method)(
            API + path, content_type="application/json", headers=headers, **data
        )
        return answer

    return call


@pytest.fixture
def two(db):
    ao = Atributo()
    ao.available("instance0")
    ao.available("instance1")
    return ao


def test_an_allocation_is_201_when_it_is_made_and_200_when_it_was_there(rest, two):
    first, second = rest("put", "/allocations/job0"), rest("put", "/allocations/job0")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == {"job_id": "job0", "instance_id": "instance1", "persisted": True}
    assert second.json()["persisted"] is False
    assert Event.objects.filter(kind="allocation.made", subject="allocation:job0").count() == 1


STRANGE = ["a b", "ü", "😀", "a%b", "a+b", "a?b#c", "batch", "plan", "'\"<>", "."]


@pytest.mark.parametrize("job_id", STRANGE)
def test_any_valid_id_is_an_address(rest, two, job_id):
    path = f"/allocations/{quote(job_id, safe='')}"
    assert rest("put", path).json()["job_id"] == job_id
    assert rest("get", path).json()["job_id"] == job_id
    assert rest("delete", path).status_code == 204


def test_an_id_with_slashes_is_an_address(rest, two):
    path = "/allocations/" + quote("a\x1fb", safe="")  # what asgi.py makes of %2F
    assert rest("put", path).json()["job_id"] == "a/b"
    assert two.instance("a/b") is not None


@pytest.mark.parametrize("wrong", ["%01", "x" * 256, "%C2%85"])
def test_a_wrong_id_is_400(rest, two, wrong):
    answer = rest("put", f"/allocations/{wrong}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_id")


def test_without_instances_an_allocation_is_a_conflict(rest):
    answer = rest("put", "/allocations/job0")
    assert (answer.status_code, answer.json()["code"]) == (409, "no_instances")


def test_deallocating_needs_the_epoch_that_was_seen_when_one_is_named(rest, two):
    rest("put", "/allocations/job0")
    tag = rest("get", "/allocations/job0").headers["ETag"]
    assert rest("delete", "/allocations/job0", **{"If-Match": '"1"'}).status_code == 412
    assert rest("delete", "/allocations/job0", **{"If-Match": tag}).status_code == 204
    assert rest("delete", "/allocations/job0").json()["code"] == "unknown_job"
    assert Event.objects.filter(kind="allocation.ended").count() == 1


def test_a_batch_answers_for_each_item_and_is_one_event(rest, two):
    two.allocate("job1")
    body = {"job_ids": ["job0", "job1", "bad\nid"]}
    results = rest("post", "/allocations/batch", body).json()["results"]
    assert [item.get("persisted") for item in results] == [True, False, None]
    assert results[2]["code"] == "invalid_id"
    assert Event.objects.get(kind="allocations.made").facts["count"] == 1


def test_a_batch_deallocates_too(rest, two):
    two.allocate_many(["a", "b"])
    body = {"job_ids": ["a", "b", "c"], "operation": "deallocate"}
    assert rest("post", "/allocations/batch", body).json()["deallocated"] == 2
    assert Allocation.objects.count() == 0


def test_a_batch_tells_of_each_whether_it_was_allocated(rest, two):
    two.allocate("a")
    body = {"job_ids": ["a", "b", ""], "operation": "deallocate"}
    ended, unknown, wrong = rest("post", "/allocations/batch", body).json()["results"]
    assert (ended["deallocated"], ended["instance_id"][:-1]) == (True, "instance")
    assert unknown == {"job_id": "b", "deallocated": False}
    assert wrong["code"] == "invalid_id"


def test_a_batch_places_those_that_fit_and_names_the_others(rest, db):
    ao = Atributo()
    ao.available("small", capacity=2)
    ao.allocate("old")
    body = {"job_ids": ["new", "late", "old"]}
    new, late, old = rest("post", "/allocations/batch", body).json()["results"]
    assert (new["persisted"], old["persisted"]) == (True, False)
    assert late == {"job_id": "late", "code": "no_instances", "detail": "no instances"}
    assert ao.jobs("small") == ["new", "old"]


def test_of_a_job_that_a_batch_names_twice_one_item_is_persisted(rest, two):
    results = rest("post", "/allocations/batch", {"job_ids": ["a", "a"]}).json()["results"]
    assert [item["persisted"] for item in results] == [True, False]


def test_of_a_job_that_a_batch_names_twice_one_item_is_deallocated(rest, two):
    two.allocate("a")
    wanted = {"job_ids": ["a", "a"], "operation": "deallocate"}
    answer = rest("post", "/allocations/batch", wanted).json()
    assert [item["deallocated"] for item in answer["results"]] == [True, False]
    assert answer["deallocated"] == 1


TOO_LARGE_FOR_JAVASCRIPT = 25022512311472305


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/instances", {"id": TOO_LARGE_FOR_JAVASCRIPT}),
        ("/allocations/batch", {"job_ids": [TOO_LARGE_FOR_JAVASCRIPT]}),
        ("/allocations/plan", {"job_ids": [TOO_LARGE_FOR_JAVASCRIPT]}),
        ("/allocations/plan", {"drain": TOO_LARGE_FOR_JAVASCRIPT}),
    ],
)
def test_an_id_that_is_a_number_is_refused(rest, two, path, body):
    """A browser may have rounded it, and then it would be another one."""
    answer = rest("post", path, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert "Must be text" in str(answer.json()["errors"])
    assert (Instance.objects.count(), Allocation.objects.count()) == (2, 0)


def test_who_asks_for_a_new_allocation_gets_no_old_one(rest, two):
    new = {"If-None-Match": "*"}
    first, second = (rest("put", "/allocations/job0", **new) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 412)
    assert second.json()["detail"] == "job0 is on instance1 already"
    assert rest("delete", "/allocations/job0", **new).status_code == 400
    assert two.instance("job0") == "instance1"


def test_the_plan_for_jobs_knows_who_is_full(rest, db):
    Atributo().available("small", capacity=1)
    answer = rest("post", "/allocations/plan", {"job_ids": ["a", "b"]}).json()
    assert answer["instances"] == {"a": "small", "b": None}


def test_who_names_an_epoch_allocates_nothing_anew(rest, two):
    answer = rest("put", "/allocations/job0", **{"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["code"]) == (412, "epoch_changed")
    rest("put", "/allocations/job0")
    tag = rest("get", "/allocations/job0").headers["ETag"]
    assert rest("put", "/allocations/job0", **{"If-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("put", "/allocations/new"), ("post", "/instances/new/available")]
    + [("post", "/instances/new/unavailable")],
)
def test_if_match_any_makes_nothing_new(rest, two, method, path):
    answer = rest(method, path, **{"If-Match": "*"})
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert not Allocation.objects.filter(pk="new").exists()
    assert not Instance.objects.filter(pk="new").exists()


def test_if_match_may_name_several_epochs_and_a_weak_one_matches_none(rest, two):
    rest("put", "/allocations/job0")
    tag = rest("get", "/allocations/job0").headers["ETag"]
    assert rest("delete", "/allocations/job0", **{"If-Match": f"W/{tag}"}).status_code == 412
    assert rest("delete", "/allocations/job0", **{"If-Match": f'"1", {tag}'}).status_code == 204
    tag = rest("get", "/instances/instance0").headers["ETag"]
    several = {"If-Match": f'{tag}, "999999"'}
    assert rest("patch", "/instances/instance0", {"weight": 5}, **several).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"), [("put", "/allocations/a"), ("post", "/instances/instance0/restore")]
)
def test_members_that_nobody_knows_are_refused_where_none_is_needed(rest, two, method, path):
    answer = rest(method, path, {"typo": 1})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["typo"])


def test_a_list_asks_as_often_when_all_drain_as_when_one_does(
    rest, tokens_stay_known, django_assert_num_queries
):
    for number in range(6):
        Atributo().available(f"i{number}")
    drains.drain("i0")
    rest("get", "/instances")
    with CaptureQueriesContext(connection) as one:
        rest("get", "/instances")
    for number in range(1, 6):
        drains.drain(f"i{number}")
    holds.hold("i3", "open claim", "mine", count=4)
    with django_assert_num_queries(len(one)):
        listed = rest("get", "/instances").json()["results"]
    assert [row["drain"]["left"]["open_claims"] for row in listed] == [0, 0, 0, 4, 0, 0]


def test_forcing_a_drain_that_runs_keeps_its_reason_and_its_pace(rest, two):
    rest("post", "/instances/instance0/drain", {"reason": "heat", "moves_per_minute": 5})
    wrong = rest("post", "/instances/instance0/drain", {"force": True}, **{"If-Match": '"1"'})
    assert wrong.status_code == 412
    forced = rest("post", "/instances/instance0/drain", {"force": True}).json()["drain"]
    assert (forced["reason"], forced["moves_per_minute"]) == ("heat", 5)
    assert forced["deadline_at"] is not None
    call_command("instances", "drain", "instance0", "--force")
    assert Instance.objects.get(pk="instance0").drain.reason == "heat"


def test_stopping_what_does_not_drain_is_a_conflict(rest, two):
    answer = rest("delete", "/instances/instance0/drain")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_draining")


@pytest.mark.parametrize("name", ["contains", "isnull", "0", "a__b", 'say "hi"', "it's", "a\\b"])
def test_a_label_may_have_any_name(rest, two, name):
    two.available("labelled", labels={name: "x"})
    found = rest("get", f"/instances?label={name}=x").json()["results"]
    assert [row["id"] for row in found] == ["labelled"]


def test_plans_of_a_drain_a_rebalance_and_jobs(rest, two):
    two.allocate_many([f"job{n}" for n in range(6)])
    jobs = len(two.jobs("instance0"))
    drain = rest("post", "/allocations/plan", {"drain": "instance0"}).json()
    assert (drain["count"], drain["arrivals"]) == (jobs, {"instance1": jobs})
    assert set(drain["moves"][0]) == {"job_id", "from_instance", "to_instance"}
    assert rest("post", "/allocations/plan", {"rebalance": True}).json()["count"] == 0
    one = rest("post", "/allocations/plan", {"job_ids": ["unseen"]}).json()
    assert one["instances"]["unseen"].startswith("instance")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "Ask for one of drain, rebalance or job_ids."),
        ({"drain": "a", "rebalance": True}, "Ask for one of drain, rebalance or job_ids."),
        ({"drain": "a", "moves_per_minute": 5}, "moves_per_minute belongs to rebalance: true."),
        ({"unknown": 1}, "Not valid: unknown."),
    ],
)
def test_a_plan_asks_for_one_thing(rest, two, body, detail):
    answer = rest("post", "/allocations/plan", body)
    assert (answer.status_code, answer.json()["detail"]) == (400, detail)


def test_the_explanation_of_a_job(rest, two):
    two.allocate("job0")
    found = rest("get", "/allocations/job0/explanation").json()
    assert found["placement"]["instance_id"] == "instance1"
    assert found["why"]["scores"][0]["instance_id"] == "instance1"


def test_the_life_of_an_instance(rest):
    made = rest("post", "/instances", {"id": "a/ü", "weight": 2, "labels": {"zone": "n"}})
    assert (made.status_code, made.json()["state"]) == (201, "available")
    assert rest("post", "/instances", {"id": "a/ü"}).status_code == 200
    path = "/instances/" + quote("a\x1fü", safe="")
    states = [
        rest("post", f"{path}/unavailable", {"reason": "noise"}).json()["state"],
        rest("post", f"{path}/available").json()["state"],
        rest("post", f"{path}/drain", {"deadline_seconds": 60}).json()["state"],
        rest("delete", f"{path}/drain").json()["state"],
        rest("post", f"{path}/restore").json()["state"],
    ]
    assert states == ["unavailable", "available", "draining", "unavailable", "available"]
    assert rest("delete", path).status_code == 204
    assert rest("get", path).json()["code"] == "unknown_instance"


def test_a_change_of_an_instance_needs_the_epoch_when_one_is_named(rest, two):
    tag = rest("get", "/instances/instance0").headers["ETag"]
    for verb, path in [("post", "/unavailable"), ("post", "/drain"), ("patch", "")]:
        answer = rest(verb, f"/instances/instance0{path}", {}, **{"If-Match": '"999"'})
        assert answer.status_code == 412
    weight = rest("patch", "/instances/instance0", {"weight": 5}, **{"If-Match": tag})
    assert (weight.status_code, weight.json()["weight"]) == (200, 5)


def test_an_instance_with_jobs_is_removed_only_when_their_number_is_named(rest, two):
    two.allocate("job0")
    refused = rest("delete", "/instances/instance1")
    assert (refused.status_code, refused.json()["jobs"]) == (409, 1)
    assert rest("delete", "/instances/instance1?drop_jobs=2").status_code == 409
    assert rest("delete", "/instances/instance1?drop_jobs=x").status_code == 400
    assert rest("delete", "/instances/instance1?drop_jobs=1").status_code == 204


def test_may_i_remove_it(rest, two):
    assert rest("get", "/instances/instance0/removal").json()["may"] is False
    two.unavailable("instance0")
    assert rest("get", "/instances/instance0/removal").json()["may"] is True


def test_a_heartbeat_renews_the_lease(rest, two):
    answer = rest("post", "/instances/instance0/heartbeat", {"seconds": 30})
    assert answer.json()["lease_until"] is not None


def test_lists_are_filtered_and_paged_by_key(rest, two):
    two.available("other", labels={"zone": "north"})
    two.unavailable("instance1")
    names = lambda query: [row["id"] for row in rest("get", query).json()["results"]]  # noqa: E731
    assert names("/instances") == ["instance0", "instance1", "other"]
    assert names("/instances?available=true") == ["instance0", "other"]
    assert names("/instances?state=unavailable") == ["instance1"]
    assert names("/instances?state=draining") == []
    assert rest("get", "/instances?state=nonsense").status_code == 400
    assert names("/instances?prefix=inst&limit=1") == ["instance0"]
    assert names("/instances?label=zone=north") == ["other"]
    assert rest("get", "/instances?label=zone").status_code == 400


def test_the_jobs_of_an_instance_and_all_allocations(rest, two):
    two.allocate_many(["x1", "x2", "y"])
    listed = [
        row["job_id"]
        for key in ("instance0", "instance1")
        for row in rest("get", f"/instances/{key}/jobs").json()["results"]
    ]
    assert sorted(listed) == ["x1", "x2", "y"]
    found = rest("get", "/allocations?prefix=x").json()["results"]
    assert [row["job_id"] for row in found] == ["x1", "x2"]


def test_the_list_of_instances_takes_a_constant_number_of_queries(
    rest, two, tokens_stay_known, django_assert_max_num_queries
):
    for n in range(60):
        two.available(f"more{n}")
    rest("get", "/instances")
    with django_assert_max_num_queries(4):
        assert len(rest("get", "/instances").json()["results"]) == 50


def test_c13_job_ids_are_strings(rest):
    made = rest("post", "/job-ids", {"count": 3})
    assert made.status_code == 201
    ids = made.json()["job_ids"]
    assert all(isinstance(each, str) for each in ids) and len(set(ids)) == 3
    assert rest("get", f"/job-ids/{ids[0]}").json()["job_id"] == ids[0]


def test_an_id_is_decoded(rest):
    found = rest("get", "/job-ids/25022512311472342").json()
    assert found["time"].startswith("2025-02-25T12:31:14.723")
    assert (found["worker_id"], found["cluster_size"], found["exact"]) == (42, 100, True)
    assert rest("get", "/job-ids/12").json()["code"] == "invalid_job_id"


def test_a_viewer_may_look_and_change_nothing(rest_as, two):
    viewer = rest_as("viewer")
    assert viewer.get(f"{API}/instances").status_code == 200
    assert viewer.get(f"{API}/allocations").status_code == 200
    assert viewer.put(f"{API}/allocations/a").status_code == 403
    assert viewer.post(f"{API}/instances/instance0/unavailable").status_code == 403
    assert viewer.delete(f"{API}/instances/instance0").status_code == 403
    assert viewer.post(f"{API}/job-ids").status_code == 403
    assert Instance.objects.available().count() == 2
