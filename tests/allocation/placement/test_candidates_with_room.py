"""Whatever comes and goes, exactly those with room are offered, in their order."""

from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.choose import Candidate
from allocation.placement.candidates import Candidates, CandidatesWithRoom

NAMES = ["a", "b", "c", "d", "e"]
rooms = st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 3))
changes = st.lists(st.tuples(st.sampled_from([*NAMES, "elsewhere"]), st.integers(-2, 2)))


@given(rooms, changes)
def test_those_with_room_are_offered_in_their_order(room, changes):
    left = dict(room)
    with_room = CandidatesWithRoom(
        Candidates(1, tuple(Candidate(name) for name in NAMES)), dict(room)
    )
    for name, jobs in changes:
        with_room.add(name, jobs)
        left |= {name: left[name] - jobs} if name in left else {}
    assert with_room.candidates.ids() == [name for name in NAMES if left.get(name, 1) > 0]
