"""Bearer tokens: made by their owners, limited by a scope, revoked within seconds."""

from dataclasses import replace

import pytest
from django.test import Client
from knox.models import AuthToken

from atributo_site.core.models import Event
from atributo_site.core.models.clock import from_now
from atributo_site.curator.repairs import remove_expired_tokens
from atributo_site.models import TokenScope
from atributo_site.rest.authentication import TokenCache, known_tokens
from atributo_site.web import tokens

TOKENS = "/api/v1/tokens"
ME = "/api/v1/me"
JSON = "application/json"


def with_token(token):
    return Client(headers={"Authorization": f"Bearer {token}"})


def test_a_made_token_is_shown_once_and_works(client_as):
    answer = client_as("operator").post(TOKENS, {"name": "ci", "level": "operate"}, JSON)
    made = answer.json()
    assert answer.status_code == 201
    assert with_token(made["token"]).get(ME).json()["scope"] == "operate"
    assert made["token"] not in client_as("operator").get(TOKENS).content.decode()


def test_the_database_and_the_events_hold_no_token(client_as):
    answer = client_as("admin").post(TOKENS, {"name": "ci", "level": "view"}, JSON)
    kept = [
        *AuthToken.objects.values_list("digest", "token_key"),
        *Event.objects.values_list("facts"),
    ]
    assert answer.json()["token"] not in str(kept)
    assert Event.objects.filter(kind="token.made", actor="admin", channel="rest").exists()


def test_a_level_above_ones_own_is_refused(client_as):
    answer = client_as("viewer").post(TOKENS, {"name": "up", "level": "administer"}, JSON)
    assert (answer.status_code, answer.json()["code"]) == (400, "token_refused")


def test_the_scope_limits_what_the_owner_may(rest_as):
    assert rest_as("admin", "view").get(TOKENS, {"user": "viewer"}).status_code == 403
    assert rest_as("admin").get(TOKENS, {"user": "viewer"}).status_code == 200


@pytest.mark.parametrize(
    ("level", "status"), [("view", 403), ("operate", 403), ("administer", 201)]
)
def test_only_a_token_that_administers_makes_tokens(rest_as, level, status):
    answer = rest_as("admin", level).post(TOKENS, {"name": "x", "level": "view"}, JSON)
    assert answer.status_code == status


def test_a_token_made_by_a_token_does_not_outlive_it(rest_as):
    body = {"name": "x", "level": "administer", "days": 30}
    made = rest_as("admin").post(TOKENS, body, JSON).json()  # by a token of one day
    maker = TokenScope.objects.exclude(pk=made["id"]).select_related("token").get()
    assert TokenScope.objects.get(pk=made["id"]).token.expiry == maker.token.expiry


def test_more_days_than_the_site_allows_are_refused(client_as, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, token_days=5)
    answer = client_as("admin").post(TOKENS, {"name": "x", "level": "view", "days": 6}, JSON)
    assert answer.json()["errors"] == {"days": ["At most 5 days."]}


def test_an_expired_token_is_refused(token_of):
    token = token_of("viewer")
    AuthToken.objects.update(expiry=from_now(-1))
    assert with_token(token).get(ME).status_code == 401


def test_a_token_of_an_inactive_user_is_refused(token_of, user_as):
    token = token_of("viewer")
    user = user_as("viewer")
    user.is_active = False
    user.save()
    assert with_token(token).get(ME).status_code == 401


def test_a_token_without_a_scope_is_refused(user_as):
    _, token = AuthToken.objects.create(user_as("admin"))
    assert with_token(token).get(ME).status_code == 401


def test_a_revoked_token_is_refused_at_once_here(transactional_db, client_as, token_of):
    token = token_of("viewer")
    assert with_token(token).get(ME).status_code == 200
    pk = TokenScope.objects.get().pk
    assert client_as("viewer").delete(f"{TOKENS}/{pk}").status_code == 204
    assert with_token(token).get(ME).status_code == 401
    assert Event.objects.filter(kind="token.revoked", subject=f"token:{pk}").count() == 1


def test_a_token_revoked_elsewhere_is_remembered_for_five_seconds_only():
    seconds = [0.0]
    cache = TokenCache(5.0, size=10, monotonic=lambda: seconds[0])
    assert cache.find("d", lambda: "scope") == "scope"
    seconds[0] = 4.9
    assert cache.find("d", lambda: None) == "scope"
    seconds[0] = 5.0
    assert cache.find("d", lambda: None) is None


def test_the_token_of_somebody_else_is_not_there(rest_as, token_of):
    token_of("viewer")
    pk = TokenScope.objects.get().pk
    assert rest_as("operator").delete(f"{TOKENS}/{pk}").status_code == 404
    assert rest_as("admin").delete(f"{TOKENS}/{pk}").status_code == 204


def test_ones_own_tokens_are_listed_and_no_others(client_as, token_of):
    token_of("viewer")
    token_of("operator")
    listed = client_as("viewer").get(TOKENS).json()["results"]
    assert [each["user"] for each in listed] == ["viewer"]


def test_the_use_of_a_token_is_written_once_a_minute(token_of):
    token = token_of("viewer")
    with_token(token).get(ME)
    first = TokenScope.objects.get().last_used_at
    known_tokens.clear()
    with_token(token).get(ME)
    assert first is not None
    assert TokenScope.objects.get().last_used_at == first


def test_a_known_token_costs_no_query(token_of, tokens_stay_known, django_assert_num_queries):
    client = with_token(token_of("viewer"))
    client.get(ME)
    with django_assert_num_queries(0):
        assert client.get(ME).status_code == 200


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer x y", "Bearer " + "a" * 300])
def test_a_wrong_header_is_401(db, header):
    answer = Client(headers={"Authorization": header}).get(ME)
    assert (answer.status_code, answer.json()["code"]) == (401, "authentication_failed")


def test_wrong_tokens_are_401_and_soon_asked_for_patience_but_right_ones_never(token_of):
    answers = [with_token("wrong").get(ME) for _ in range(25)]
    assert {answer.status_code for answer in answers} == {401}
    assert ["Retry-After" in answer for answer in answers] == [False] * 20 + [True] * 5
    assert with_token(token_of("viewer")).get(ME).status_code == 200


def test_an_answer_with_a_secret_is_never_kept(client_as):
    headers = {"Idempotency-Key": "once"}
    answer = client_as("admin").post(TOKENS, {"name": "x", "level": "view"}, JSON, headers=headers)
    assert answer.status_code == 400


def test_a_user_has_at_most_a_hundred_tokens(client_as, user_as, monkeypatch):
    monkeypatch.setattr(tokens, "MOST_TOKENS", 1)
    tokens.make_token(user_as("viewer"), "first", "view", 1)
    answer = client_as("viewer").post(TOKENS, {"name": "x", "level": "view"}, JSON)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_tokens")


def test_long_expired_tokens_are_removed(token_of):
    token_of("viewer")
    assert remove_expired_tokens(10) == 0
    AuthToken.objects.update(expiry=from_now(-8 * tokens.DAY_SECONDS))
    assert remove_expired_tokens(10) == 1
    assert not TokenScope.objects.exists()


@pytest.mark.parametrize(
    ("level", "status"), [("view", 403), ("operate", 403), ("administer", 204)]
)
def test_only_a_token_that_administers_revokes_its_owners_others(rest_as, user_as, level, status):
    other, _ = tokens.make_token(user_as("admin"), "other", "view", 1)
    assert rest_as("admin", level).delete(f"{TOKENS}/{other.pk}").status_code == status
    assert TokenScope.objects.filter(pk=other.pk).exists() == (status == 403)


@pytest.mark.parametrize("level", ["view", "operate"])
def test_any_token_revokes_itself(token_of, level):
    client = with_token(token_of("operator", level))
    mine = client.get(TOKENS).json()["results"][0]["id"]
    assert client.delete(f"{TOKENS}/{mine}").status_code == 204
    assert not TokenScope.objects.exists()


@pytest.mark.parametrize("days", ["6", "3650", "1_0"])
def test_the_browser_makes_no_token_that_lives_longer(client_as, settings, days):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, token_days=5)
    client = client_as("admin")
    page = client.get("/system/tokens/")
    assert 'max="5"' in page.text
    given = {"name": "x", "level": "view", "number": page.context["number"]}
    assert client.post("/system/tokens/", {**given, "days": days}).status_code == 400
    assert client.post("/system/tokens/", {**given, "days": "5"}).status_code == 200
    assert TokenScope.objects.count() == 1


def test_no_door_makes_a_token_that_lives_longer(user_as, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, token_days=5)
    with pytest.raises(tokens.TokenRefused, match="1 to 5 days"):
        tokens.make_token(user_as("admin"), "x", "view", 6)
