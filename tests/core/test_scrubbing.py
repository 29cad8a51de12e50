import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.core.redaction import MASK, differing_texts, scrubbed, without

WORDS = st.text("abcd ", max_size=12)
VALUES = st.recursive(
    WORDS | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
    max_leaves=10,
)
MANY = {f"secret {number}" for number in range(20_000)}


@given(VALUES, st.sets(st.text("abcd", min_size=4, max_size=6), max_size=5))
def test_no_secret_stands_in_what_is_left(value, secrets):
    left = without(value, secrets)
    assert not {text for text in texts(left) for secret in secrets if secret in text}


def texts(value):
    if isinstance(value, dict):
        return set().union(*map(texts, value.values()))
    if isinstance(value, list):
        return set().union(*map(texts, value))
    return {value} if isinstance(value, str) else set()


def test_the_texts_that_were_masked_are_found():
    plain = {"token": ["abcd", 12345, True, {"deep": "efgh"}], "name": "ada"}
    assert differing_texts(plain, {**plain, "token": MASK}) == {"abcd", "12345", "efgh"}


class Looked(str):
    """Fail if this text is searched."""

    def replace(self, *_):
        raise AssertionError("each of many secrets was looked for in each of many texts")


def test_too_many_secrets_for_too_many_texts_mask_them_all():
    value = {"a": [Looked("plain")] * 20_000, "n": 7}
    assert without(value, MANY) == {"a": [MASK] * 20_000, "n": 7}
    assert scrubbed(Looked("x" * 100_000), MANY, 100) == MASK


@pytest.mark.parametrize("secrets", [set(), {"abcd"}])
def test_few_secrets_are_looked_for_in_any_text(secrets):
    assert without(["x" * 1_000_000], secrets) == ["x" * 1_000_000]
