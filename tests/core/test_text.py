import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.core.text import pluralize


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 rows break"), (1, "1 row breaks"), (2, "2 rows break")]
)
def test_one_is_said_in_the_singular(count, said):
    assert pluralize(count, "row breaks", "rows break") == said


@given(st.integers(2, 10**9))
def test_many_end_in_an_s(count):
    assert pluralize(count, "job") == f"{count} jobs"
