from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.core.redaction import (
    MASK,
    differing_texts,
    hidden,
    looks_secret,
    masked,
    scrubbed,
    secrets_in,
    unmasked,
    without_passwords,
)
from queues.logic.secret_fields import secret_names

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
SECRET = """
    password password2 Password passwd pwd db_pass pass passphrase PGPASSWORD dbpassword PaSsWoRd
    password_hash secret client_secret clientSecret SECRET_KEY token auth_token accessToken id_token
    csrftoken ToKeN tokens x-csrf-token api_key api-key apikey apiKey APIKey x-api-key xApiKey
    X-API-Key api_key_2 access_key accessKeyId AWS_SECRET_ACCESS_KEY private_key privateKey
    private-key-pem ssh_key signingKey credentials credential creds authorization Authorization
    Proxy-Authorization bearer cookie set-cookie Set-Cookie dsn sentry_dsn connection_string
    connectionString session_id sessionid basic_auth jwt otp
"""
HARMLESS = """
    key keys sticky_key unique_key primary_key public_key sort_key key_id keyboard monkey turkey
    token_count token_type max_tokens prompt_tokens tokenizer passenger passed pass_rate passes
    bypass compass password_changed_at password_policy has_password secretary secret_name author
    authored_by cookbook description path ref id session_idle_minutes api_version access client
    connection url user name
"""
ADDRESSES = {
    "postgresql://site:hunter22@db/site": f"postgresql://site:{MASK}@db/site",
    "redis://:hunter22@redis:6379/0": f"redis://:{MASK}@redis:6379/0",
    "see https://ada:p@ss:w@host/x and go": f"see https://ada:{MASK}@host/x and go",
    "https://host:8080/path@2": "https://host:8080/path@2",
    "ssh://git@host/repository": "ssh://git@host/repository",
    "mail ada@example.net: hello": "mail ada@example.net: hello",
}


@pytest.mark.parametrize("key", SECRET.split())
def test_what_looks_like_a_secret_is_masked(key):
    assert masked({"deep": [{key: "canary"}]}) == {"deep": [{key: MASK}]}


@pytest.mark.parametrize("key", HARMLESS.split())
def test_what_merely_sounds_like_one_is_shown(key):
    assert masked({key: "canary"}) == {key: "canary"}


@pytest.mark.parametrize("text", ADDRESSES)
def test_of_an_address_only_the_password_is_masked(text):
    assert masked([text, {"database_url": text}]) == [
        ADDRESSES[text],
        {"database_url": ADDRESSES[text]},
    ]


def test_values_of_secret_keys_are_masked_however_deep():
    value = {"user": "ada", "nested": [{"api_key": "SECRET-1", "Password": "SECRET-2"}]}
    assert masked(value) == {"user": "ada", "nested": [{"api_key": MASK, "Password": MASK}]}


def test_nothing_is_masked_where_there_is_no_value():
    assert masked({"token": None}) == {"token": None}


@given(JSON)
def test_masking_twice_is_masking_once(value):
    assert masked(masked(value)) == masked(value)
    assert hidden(hidden(value)) == hidden(value)


STEMS = ["password", "secret", "token", "api key", "access key", "private key", "passphrase"]
STYLES = [
    lambda words: "_".join(words),
    lambda words: "-".join(words),
    lambda words: ".".join(words).upper(),
    lambda words: "-".join(word.title() for word in words),
    lambda words: "".join([words[0], *(word.title() for word in words[1:])]),
    lambda words: "".join(word.title() for word in words),
]
PREFIXES = st.lists(st.sampled_from(["x", "db", "old", "aws", "my", "http"]), max_size=2)


@given(st.sampled_from(list(product(STEMS, STYLES))), PREFIXES, st.sampled_from(["", "2", "_1"]))
def test_no_way_of_writing_a_name_shows_its_value(written, prefixes, number):
    stem, style = written
    assert looks_secret(style([*prefixes, *stem.split()]) + number)


PASSWORDS = st.text("XYZ0123456789%+~!", min_size=4)


@given(PASSWORDS, st.text("abc", max_size=3), JSON)
def test_a_password_of_an_address_stands_nowhere(password, user, more):
    address = f"postgresql://{user}:{password}@host/db"
    value = {"url": address, "note": f"I used {password}!", "more": more}
    assert hidden(value)["url"] == without_passwords(address) == address.replace(password, MASK)
    assert password not in hidden(value)["note"]
    assert password not in scrubbed(f"cannot reach {address}", set(), 1000)
    assert password in secrets_in(value)


@given(JSON)
def test_what_comes_back_as_it_was_shown_is_what_it_was(value):
    assert unmasked(hidden(value), value, hidden(value)) == value


def test_addresses_and_texts_come_back_as_they_were():
    value = {"url": "redis://:hunter22@h", "password": "hunter22", "note": "not hunter22"}
    shown = hidden(value)
    assert shown == {"url": f"redis://:{MASK}@h", "password": MASK, "note": f"not {MASK}"}
    assert unmasked({**shown, "more": 1}, value, shown) == {**value, "more": 1}


def test_only_what_is_masked_differs():
    value = {"to": "ada@example.net", "password": "hunter22", "deep": [{"token": ["one1", 2]}]}
    assert differing_texts(value, masked(value)) == {"hunter22", "one1"}


PIN = {"type": "object", "properties": {"pin": {"type": "string", "x-secret": True}}}


@pytest.mark.parametrize(
    "schema",
    [
        PIN,
        {"properties": {"deep": PIN}},
        {"type": "array", "items": PIN},
        {"anyOf": [{"type": "null"}, PIN]},
        {"allOf": [{"if": {}, "then": PIN}]},
        {"$ref": "#/$defs/login", "$defs": {"login": PIN}},
        {"additionalProperties": PIN},
    ],
)
def test_a_mark_is_found_in_every_branch_of_a_schema(schema):
    assert secret_names(schema) == {"pin"}
