from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.secrets import MASK, looks_secret, masked

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_values_of_secret_keys_are_masked_however_deep():
    value = {"user": "ada", "nested": [{"api_key": "SECRET-1", "Password": "SECRET-2"}]}
    assert masked(value) == {"user": "ada", "nested": [{"api_key": MASK, "Password": MASK}]}


def test_a_key_that_merely_contains_key_or_pass_is_shown():
    assert masked({"sticky_key": "k", "passed": 3}) == {"sticky_key": "k", "passed": 3}


def test_nothing_is_masked_where_there_is_no_value():
    assert masked({"token": None}) == {"token": None}


@given(JSON)
def test_masking_twice_is_masking_once(value):
    assert masked(masked(value)) == masked(value)


@given(st.dictionaries(st.sampled_from(["password", "secret", "auth_token"]), st.text(min_size=1)))
def test_no_secret_survives(value):
    assert all(looks_secret(key) for key in value)
    assert set(masked(value).values()) <= {MASK}
