"""A database that cannot be written is read as ever, and called what it is."""

import pytest
from django.db import Error, connection

from allocation.job_ids import ids, sqlite_journal
from atributo_site.core.availability.outages import REQUESTS, outages
from atributo_site.core.events import record
from atributo_site.core.models.clock import from_now
from atributo_site.models import TokenScope
from atributo_site.rest.authentication import known_tokens
from atributo_site.status import redis as redis_status

pytestmark = pytest.mark.django_db(transaction=True)
LARGE = {"text": "x" * 500_000}
LISTS = ["/api/v1/instances", "/api/v1/queues", "/api/v1/jobs", "/api/v1/events", "/api/v1/me"]
PAGES = ["/", "/instances/", "/queues/", "/jobs/", "/events/", "/pools/", "/transactions/"]


@pytest.fixture
def read_only(client_as, bearer, database):
    """Log somebody in, with a token that was used minutes ago, and write nothing from then on."""
    client, token = client_as("admin"), bearer("admin")
    client.raise_request_exception = False
    TokenScope.objects.update(last_used_at=from_now(-600))
    known_tokens.clear()
    connection.close()
    before = dict(connection.settings_dict)
    connection.settings_dict.update(of_reading(database, before))
    yield client, token
    connection.close()
    connection.settings_dict.update(before)
    outages.succeeded(REQUESTS)


def of_reading(database, chosen):
    if database == "sqlite":
        return {"NAME": f"file:{chosen['NAME']}?mode=ro"}
    options = chosen["OPTIONS"]
    words = f"{options['options']} -c default_transaction_read_only=on"
    return {"OPTIONS": {**options, "options": words}}


def test_reading_goes_on_also_with_a_token_that_was_idle(read_only):
    client, token = read_only
    for path in LISTS:
        known_tokens.clear()
        assert client.get(path, headers=token).status_code == 200, path
    for page in PAGES:
        assert client.get(page).status_code == 200, page


def test_a_write_is_refused_by_its_reason(read_only):
    client, token = read_only
    headers = {**token, "Idempotency-Key": "k"}
    for given in (token, headers):
        answer = client.post(
            "/api/v1/instances", {"id": "a"}, content_type="application/json", headers=given
        )
        assert (answer.status_code, answer.json()["code"]) == (503, "read_only")
        assert "Retry-After" in answer.headers
    page = client.post("/queues/", {"name": "mail", "max_workers": 1})
    assert page.status_code == 503
    assert "read-only" in page.text


def test_readyz_says_so_and_stays_ready(read_only):
    client, _ = read_only
    with pytest.raises(Error) as refused:
        record("test.kind", "test:1")  # as the heartbeat of a web process does
    outages.failed(REQUESTS, refused.value)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (200, "read-only")


def test_a_full_disk_is_called_that(client_as, database):
    client = client_as("admin")
    fill(database)
    try:
        answer = client.post("/api/v1/collections/texts", LARGE, "application/json")
        body = answer.json()
        assert (answer.status_code, body["code"]) == (503, "disk_full")
        assert "disk" in body["detail"] and "full" in body["detail"]
        assert client.get("/api/v1/collections/texts").json()["results"] == []
        assert client.get("/readyz").json()["database"] == "disk full"
    finally:
        make_room(database)
        outages.succeeded(REQUESTS)
    assert client.post("/api/v1/collections/texts", LARGE, "application/json").status_code == 201


@pytest.mark.only_on("sqlite")
def test_so_is_one_that_has_no_room_for_the_marks_of_job_ids(client_as, monkeypatch):
    client = client_as("admin")
    ids.release()
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_journal, "path_of", lambda using: "/dev/full")
        answer = client.post("/api/v1/job-ids", {}, "application/json")
        assert (answer.status_code, answer.json()["code"]) == (503, "disk_full")
        assert client.get("/readyz").json()["database"] == "disk full"
    outages.succeeded(REQUESTS)
    assert client.post("/api/v1/job-ids", {}, "application/json").status_code == 201


FULL = """
    CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER disk_is_full BEFORE INSERT ON allocation_document
    EXECUTE FUNCTION disk_is_full()"""


def fill(database):
    """Let SQLite's file grow no further; let PostgreSQL say what it says then."""
    with connection.cursor() as cursor:
        if database == "postgresql":
            cursor.execute(FULL)
            return
        cursor.execute("VACUUM")  # other tests have left free pages
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")


def make_room(database):
    with connection.cursor() as cursor:
        if database == "postgresql":
            cursor.execute("DROP FUNCTION disk_is_full CASCADE")
            return
        cursor.execute("PRAGMA max_page_count = 1000000000")


def test_a_redis_that_cannot_write_is_degraded_for_that_reason():
    info = {"redis_version": "7.2", "maxmemory_policy": "noeviction"}
    health = redis_status._examined({**info, "aof_last_write_status": "err"})
    assert (health.state, "disk" in health.detail) == ("degraded", True)
    assert redis_status._examined({**info, "aof_last_write_status": "ok"}).state == "ok"
