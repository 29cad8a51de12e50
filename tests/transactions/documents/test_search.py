"""Lists and searches of documents."""

from datetime import datetime

import pytest

from allocation.transactions import InvalidDocument, Search, Transaction

pytestmark = pytest.mark.django_db(transaction=True)


def keys(pages):
    return [result["path"]["key"] for result in pages.all()]


def test_a_list_comes_in_pages_by_key(people):
    pages = people.list("people", limit=3)
    first = pages.next()
    assert [row["path"]["key"] for row in first["results"]] == ["ada", "bob", "eve"]
    assert keys(people.list("people", limit=3)) == ["ada", "bob", "eve", "zoe"]
    assert keys(people.list("people", after="bob")) == ["eve", "zoe"]
    assert pages.next()["next"] is None
    assert pages.prev()["results"] == first["results"]


SEARCHES = {
    "age:>30": ["ada", "zoe"],
    "age:>30 AND city:Paris": ["ada"],
    "age:[20 TO 36]": ["ada", "bob"],
    "age:{20 TO 50}": ["ada"],
    "age:[* TO 20]": ["bob"],
    'age:"36"': ["eve"],
    "age:36": ["ada"],
    "city:*": ["ada", "bob", "eve"],
    "NOT city:Paris": ["bob", "zoe"],
    "city:Rome OR age:>=50": ["bob", "zoe"],
    "(city:Rome OR city:Paris) AND NOT age:20": ["ada", "eve"],
    "name.first:a*": ["ada"],
    "value.name.first:zoe": ["zoe"],
    "*": ["ada", "bob", "eve", "zoe"],
    "NOT *": [],
    "nothing:1": [],
    "city:Paris age:36": ["ada"],
}


@pytest.mark.parametrize("query", SEARCHES)
def test_a_search_finds(people, query):
    assert keys(people.search("people", query)) == SEARCHES[query]


def test_a_search_sorts_and_skips(people):
    search = Search().query("age:>0").sort("age:desc").limit(1).offset(1)
    assert keys(people.search("people", search)) == ["ada", "bob"]
    assert keys(people.search("people", "*", sort="city:desc", limit=2)) == [
        "bob",
        "ada",
        "eve",
        "zoe",
    ]


def test_a_search_compares_like_with_like(client):
    values = [True, False, None, "true", "", 0, 1, [], {}, "50%_", "50x_"]
    for number, value in enumerate(values):
        client.put("c", f"{number:02}", {"v": value})
    found = {
        query: [values[int(key)] for key in keys(client.search("c", query))]
        for query in ("v:true", "v:null", "v:0", 'v:""', "v:*", "v:50%_*", "v:TR*", "v:<1")
    }
    assert repr(found["v:*"]) == repr(values)
    assert found | {"v:*": []} == {
        "v:true": [True],
        "v:null": [None],
        "v:0": [0],
        'v:""': [""],
        "v:*": [],
        "v:50%_*": ["50%_"],
        "v:TR*": ["true"],
        "v:<1": [0],
    }


def test_what_is_no_scalar_is_sorted_last(client):
    for key, value in {"a": {"x": 1}, "b": [1], "c": None, "d": 2, "e": 1}.items():
        client.put("c", key, {"v": value})
    assert keys(client.search("c", "*", sort="v")) == ["e", "d", "a", "b", "c"]
    assert keys(client.search("c", "*", sort="v:desc")) == ["d", "e", "a", "b", "c"]


@pytest.mark.parametrize(
    "query",
    ["v:>true", "v:[null TO 3]", "age:", "(a:1", "a:1)", "AND", "lonely", "a:1 OR", "x" * 5000],
)
def test_a_query_that_cannot_be_read_is_refused(people, query):
    with pytest.raises(InvalidDocument):
        people.search("people", query).all()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("2024:5", ["k"]),
        ("2024:*", ["k", "other"]),
        ("2024.0:4", ["other"]),
        ("rows.0.7:a", ["k"]),
        ("rows.1.7:a", ["other"]),
        ("²:3", ["k"]),
    ],
)
def test_a_number_is_a_position_or_the_name_of_a_member(client, query, found):
    client.put("c", "k", {"2024": 5, "rows": [{"7": "a"}], "²": 3})
    client.put("c", "other", {"2024": [4], "rows": {"1": {"7": "a"}}, "²": [3]})
    assert sorted(keys(client.search("c", query, sort="2024,²,rows.0.7"))) == found
    assert keys(client.search("c", "*", sort="2024.0:desc")) == ["other", "k"]
    assert keys(client.search("c", "*", sort="rows.1.7:desc")) == ["other", "k"]


def test_a_query_may_have_very_many_conditions(people):
    query = " OR ".join(f"age:[{n} TO {n}]" for n in range(200))
    assert len(people.search("people", query, sort=",".join(["age"] * 20)).all()) > 1


def test_a_name_beyond_ascii_is_found_after_a_roll_back(people):
    people.put("people", "jürgen", {"straße": "Gänsemarkt"})
    with Transaction(people) as txn:
        txn.put("people", "jürgen", {})
        txn.roll_back()
    assert keys(people.search("people", "straße:Gänsemarkt")) == ["jürgen"]


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.get("people", "ada", "\x00"),
        lambda client: client.get("people", "ada", 5),
        lambda client: client.put("people", "ada", {}, "\ud800"),
        lambda client: client.delete("people", "none", False),
        lambda client: client.patch_merge("people", "ada", {}, False),
        lambda client: client.list("people", after="\x00").next(),
        lambda client: client.search("people", None).next(),
        lambda client: client.search("people", sort="\x00").next(),
        lambda client: client.search("people", offset="1").next(),
        lambda client: client.list_events("people", "ada", "visit", limit=-1).next(),
        lambda client: client.get_event("people", "ada", "visit", 1, "first"),
        lambda client: client.post_event("people", "ada", "visit", {}, datetime.min),  # noqa: DTZ901
    ],
)
def test_what_cannot_be_meant_is_refused_by_name_on_both_databases(people, call):
    with pytest.raises(InvalidDocument):
        call(people)


@pytest.mark.parametrize("value", [None, 5, [1, 2], "text"])
def test_only_an_object_has_members(client, value):
    client.put("c", "k", value)
    item = client.get("c", "k")
    assert (item.json, item["x"], list(item), bool(item)) == (value, None, [], False)


def test_lists_and_searches_show_what_is_committed(people):
    txn = Transaction(people)
    txn.put("people", "ada", {"age": 99})
    txn.put("people", "new", {"age": 99})
    txn.delete("people", "bob")
    assert keys(people.list("people")) == ["ada", "bob", "eve", "zoe"]
    assert keys(people.search("people", "age:99")) == []
    assert keys(people.search("people", "age:20")) == ["bob"]
    txn.complete()
    assert keys(people.search("people", "age:99")) == ["ada", "new"]
    assert keys(people.list("people")) == ["ada", "eve", "new", "zoe"]
