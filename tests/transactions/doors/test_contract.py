"""Which test shows which promise: every scenario, every flaw of the library before."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = "curator/test_leadership"

SCENARIOS = {
    "B-01": ["test_scenarios::test_a_put_leaves_no_lock"],
    "B-02": ["test_scenarios::test_a_lock_is_there_until_its_transaction_ends"],
    "B-03": ["test_scenarios::test_a_client_meets_the_lock_of_a_transaction"],
    "B-04": ["test_scenarios::test_a_completed_transaction_stands"],
    "B-05": ["test_scenarios::test_a_rolled_back_transaction_never_happened"],
    "B-06": ["test_scenarios::test_every_touched_key_is_locked_and_every_write_journalled"],
    "B-07": ["test_scenarios::test_an_operation_that_fails_undoes_the_earlier_ones"],
    "B-08": ["test_failures::test_a_completion_that_fails_says_so_and_commits_nothing"],
    "B-09": [
        "test_failures::test_an_explicit_roll_back_that_fails_has_no_trigger",
        "test_failures::test_an_automatic_roll_back_that_fails_names_its_trigger",
    ],
    "B-10": ["test_failures::test_out_of_time_every_call_says_so_and_the_changes_are_undone"],
    "B-11": [
        "test_failures::test_out_of_time_every_call_says_so_and_the_changes_are_undone",
        "test_curating::test_an_expired_transaction_is_rolled_back",
    ],
    "B-12": ["test_scenarios::test_a_second_transaction_gives_way_and_the_first_goes_on"],
    "B-13": ["test_scenarios::test_a_transaction_never_meets_its_own_lock"],
    "B-14": ["test_scenarios::test_a_refused_operation_rolls_back_and_changes_nothing"],
    "B-15": [
        "test_curating::test_an_expired_transaction_is_rolled_back",
        "test_curators::test_a_real_curator_mends_and_a_killed_one_is_replaced",
    ],
    "B-16": ["test_curating::test_a_transaction_that_only_read_loses_its_locks_after_the_grace"],
    "B-17": ["test_curating::test_changes_of_a_third_party_survive_the_roll_back"],
    "B-19": ["test_scenarios::test_a_value_that_is_falsy_is_restored"],
    "B-20": [
        "test_scenarios::test_locks_of_names_that_join_alike_are_two",
        "test_scenarios::test_an_empty_key_never_means_the_whole_collection",
    ],
    "B-21": [
        "test_curators::test_of_ten_curators_that_start_at_once_one_is_active",
        "test_curators::test_a_killed_curator_is_replaced_in_8_5_s_and_a_stopped_one_at_once",
        f"{SITE}::test_a_killed_curator_is_replaced_and_a_stopped_one_hands_over",
    ],
    "B-22": [
        "test_stopped::test_a_transaction_that_slept_beyond_its_time_writes_nothing",
        "test_stopped::test_a_curator_that_slept_beyond_its_lease_mends_nothing",
        "test_curators::test_a_real_curator_that_slept_beyond_its_lease_writes_nothing",
        "test_curating::test_a_late_operation_after_the_curator_writes_nothing",
    ],
    "B-24": [
        "test_curating::test_what_cannot_be_undone_is_stuck_and_holds_up_no_other",
        "test_curating::test_a_stuck_transaction_is_tried_again_later_and_later",
        "test_operators::test_a_stuck_transaction_keeps_its_locks_until_an_operator_decides",
    ],
}

FLAWS = {
    "1 fields of FailedToRollBack are swapped": SCENARIOS["B-09"],
    "2 a timed-out transaction is not rolled back": SCENARIOS["B-11"],
    "3 undo runs forward": [
        "test_undo::test_the_shapes_that_a_forward_undo_gets_wrong_are_right",
        "test_machine::test_the_machine_catches_a_forward_undo",
    ],
    "4 falsy originals are deleted": SCENARIOS["B-19"],
    "5 values are compared, and one cannot be stored": [
        "test_curating::test_the_same_value_written_by_a_third_party_is_theirs",
        "test_machine::test_transactions_keep_their_promise",
    ],
    "6 FailedToComplete may have committed": SCENARIOS["B-08"],
    "7 a curator undoes what committed meanwhile": [
        "test_curating::test_a_transaction_that_completed_after_the_listing_stands"
    ],
    "8 clocks of clients are trusted": [
        "test_failures::test_a_client_whose_clock_is_wrong_is_treated_like_any_other",
        "test_curators::test_a_curator_whose_clock_is_wrong_usurps_nobody",
    ],
    "9 nothing is fenced": SCENARIOS["B-22"],
    "10 curators remember the wrong ids": [
        "test_curating::test_a_lock_that_outlived_its_transaction_is_freed"
    ],
    "11 a poisoned journal is never told": SCENARIOS["B-24"],
    "12 locks neither wait nor have an order": [
        "test_locks::test_a_wait_ends_when_the_holder_does",
        "test_locks::test_those_who_wait_get_the_key_in_the_order_of_their_coming",
        "test_locks::test_of_two_that_wait_for_each_other_the_younger_gives_way",
    ],
    "13 reads are dirty": [
        "test_search::test_lists_and_searches_show_what_is_committed",
        "test_history::test_transactions_with_kills_are_serializable",
    ],
    "14 nothing extends a transaction": [
        "test_failures::test_a_renewed_transaction_lives_on_up_to_its_limit"
    ],
    "15 every sweep reads everything": [
        "test_snapshot::test_a_sweep_reads_only_what_is_overdue",
        "test_snapshot::test_a_sweep_over_a_million_reads_only_what_is_overdue",
    ],
    "16 each operation rewrites the whole journal": SCENARIOS["B-06"],
    "17 times know no zone": SCENARIOS["B-06"],
}


@pytest.mark.parametrize("promise", [*SCENARIOS, *FLAWS])
def test_every_promise_names_tests_that_exist(promise):
    for name in {**SCENARIOS, **FLAWS}[promise]:
        module, test = name.split("::")
        path = module_called(module)
        assert re.search(rf"^def {test}\(", path.read_text(), re.MULTILINE), name


def test_no_flaw_is_left_out():
    assert [int(flaw.split()[0]) for flaw in FLAWS] == list(range(1, 18))


def module_called(name: str) -> Path:
    if "/" in name:
        return ROOT / f"{name}.py"
    [path] = (ROOT / "transactions").rglob(f"{name}.py")
    return path
