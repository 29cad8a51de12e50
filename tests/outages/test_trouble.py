"""Servers say themselves what is wrong with them; each kind of trouble is recognised."""

import shutil
import sqlite3

import psycopg
import pytest
import redis
from django.db import Error, connection

from atributo_site.core.availability.trouble import Trouble, trouble_of
from atributo_site.core.errors import DatabaseBusy
from tests.servers.waiting import wait_until


def told_by(call, kind=Exception):
    with pytest.raises(kind) as caught:
        call()
    return trouble_of(caught.value)


def test_a_full_disk_of_sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "small.sqlite3") as small:
        small.execute("CREATE TABLE t (text)")
        small.execute("PRAGMA max_page_count = 3")
        fill = lambda: small.execute("INSERT INTO t VALUES (?)", ["x" * 100_000])  # noqa: E731
        assert told_by(fill) == Trouble("database", "disk_full")


def test_a_file_of_sqlite_that_may_only_be_read_or_is_gone(tmp_path):
    path = tmp_path / "small.sqlite3"
    sqlite3.connect(path).execute("CREATE TABLE t (text)")
    reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert told_by(lambda: reader.execute("INSERT INTO t VALUES (1)")).state == "read_only"
    nowhere = tmp_path / "no folder" / "file"
    assert told_by(lambda: sqlite3.connect(nowhere)).state == "away"


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize(("code", "state"), [("53100", "disk_full"), ("25006", "read_only")])
def test_what_postgresql_says(db, code, state):
    say = f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$"
    assert told_by(lambda: connection.cursor().execute(say), Error).state == state
    with pytest.raises(psycopg.Error) as raw, psycopg.connect(connection_url()) as own:
        own.execute(say)
    assert trouble_of(raw.value).state == state


def connection_url():
    chosen = connection.settings_dict
    return psycopg.conninfo.make_conninfo(
        dbname=chosen["NAME"], user=chosen["USER"], host=chosen["OPTIONS"].get("host", "")
    )


def test_a_redis_that_cannot_store_or_is_gone(valkey):
    with redis.Redis.from_url(valkey.url, retry=None) as client:
        client.config_set("save", "3600 1")
        client.config_set("stop-writes-on-bgsave-error", "yes")
        shutil.rmtree(valkey.directory, ignore_errors=True)
        client.bgsave()
        wait_until(lambda: client.info()["rdb_last_bgsave_status"] == "err")
        assert told_by(lambda: client.set("a", 1)) == Trouble("redis", "disk_full")
        valkey.kill()
        assert told_by(client.ping) == Trouble("redis", "away")


@pytest.mark.parametrize("error", [DatabaseBusy("busy"), ValueError(), redis.ResponseError("ERR")])
def test_no_trouble(error):
    assert trouble_of(error) is None
