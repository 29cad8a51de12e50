import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.counted import counted


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 rows break"), (1, "1 row breaks"), (2, "2 rows break")]
)
def test_one_is_said_in_the_singular(count, said):
    assert counted(count, "row breaks", "rows break") == said


@given(st.integers(2, 10**9))
def test_many_end_in_an_s(count):
    assert counted(count, "job") == f"{count} jobs"
