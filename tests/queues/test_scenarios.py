"""Which tests show which scenario of the specification: none is without one."""

from pathlib import Path

SCENARIOS = {
    "D-01 new and unknown queue": (
        "a_new_queue_has_no_jobs an_unknown_queue_is_named_in_the_error"
    ),
    "D-02 create again, delete": (
        "creating_without_a_number_keeps_it deleting_says_whether_it_was_there"
    ),
    "D-03 registering twice": "creating_twice_is_one_queue",
    "D-04 delayed push": "a_delayed_job_waits_with_its_defaults",
    "D-05 unknown mount": "an_unknown_mount_fails_at_run_time",
    "D-06 preprocess, schema": (
        "preprocessed_data_is_what_is_stored data_against_the_schema_stores_nothing"
    ),
    "D-07 in progress": "a_long_job_is_in_progress_while_it_runs",
    "D-08 success": "a_job_completes_once",
    "D-09 repeated twice": "repeats_follow_the_first_run",
    "D-10 repeated never and once": "repeats_follow_the_first_run",
    "D-11 endless with delay and limit": (
        "repeats_stop_after_the_limit repeats_wait_their_delay "
        "no_repeat_once_a_run_started_after_the_limit"
    ),
    "D-12 four executions": "failures_are_tried_again_up_to_the_limit",
    "D-13 options of script and push": (
        "options_of_the_manifest_take_effect_and_those_of_push_win "
        "what_is_given_at_push_wins_an_explicit_zero_included"
    ),
    "D-14 endless failures": "endless_failures_stay_pending any_endless_number_is_stored_alike",
    "D-15 a recovered run": (
        "a_recovered_run_counts_once failures_of_a_run_start_anew_with_the_next "
        "retries_wait_the_back_off_and_repeats_their_delay"
    ),
    "D-17 back-off": (
        "unit_zero_is_no_delay foxx_retries_at_once_the_first_time "
        "foxx_waits_a_multiple_below_the_number_of_failures "
        "a_back_off_function_gets_the_earlier_failures a_back_off_function_that_raises_is_reported"
    ),
    "D-18 callbacks": (
        "callbacks_get_result_data_and_job a_failing_callback_changes_nothing_but_is_recorded "
        "a_callback_whose_worker_dies_is_not_called_again "
        "a_callback_whose_worker_stops_is_not_called_again"
    ),
    "D-19 results": "nothing_returned_is_null arguments_are_spread_like_everywhere",
    "D-21 the limit of a queue": (
        "the_limit_of_a_queue_is_exact a_full_queue_does_not_hold_up_another "
        "no_slot_is_taken_while_those_above_a_lowered_limit_run"
    ),
    "D-22 order": "jobs_start_by_priority_then_due_time_then_push",
    "D-23 a deleted queue": "jobs_of_a_deleted_queue_wait_for_it",
    "D-24 lists": "lists_are_by_due_time_and_by_name_and_mount",
    "D-25 abort": (
        "an_aborted_pending_job_never_runs an_aborted_running_job_is_stopped "
        "a_complete_job_stays_complete an_unknown_job_cannot_be_aborted "
        "a_late_result_of_an_aborted_job_is_ignored"
    ),
    "D-26 delete": "deleting_a_job_says_whether_it_was_there a_deleted_running_job_leaves_no_trace",
    "D-27 a killed worker": "a_killed_worker_is_a_lost_run three_lost_runs_in_a_row_end_the_run",
    "D-28 push in a transaction": "a_push_that_rolls_back_never_was a_push_rings_when_it_commits",
    "D-30 titles": "scripts_are_listed_with_their_titles names_are_shown_as_titles",
    "D-31 mounts over HTTP": (
        "a_missing_mount_is_400_and_an_unknown_one_404 an_unknown_script_is_named "
        "a_lifecycle_script_that_is_not_defined_is_null"
    ),
    "D-32 status codes": (
        "the_status_code_of_an_exception_is_the_answers "
        "an_error_with_a_status_code_is_a_failure_in_a_queue"
    ),
    "D-33 mounts and manifests": (
        "bad_mounts_are_refused good_mounts_are_accepted every_error_of_a_folder_is_told_at_once "
        "a_folder_that_is_no_service_is_refused a_missing_script_is_refused "
        "a_script_with_a_syntax_error_is_refused a_failing_setup_installs_nothing_unless_forced"
    ),
    "D-34 lifecycle of a service": (
        "install_runs_setup upgrade_keeps_configuration_and_runs_setup_only "
        "replace_runs_both_and_drops_configuration "
        "uninstall_runs_teardown_and_stops_on_its_failure"
    ),
}


def test_every_scenario_has_its_tests():
    files = Path(__file__).parent.rglob("test_*.py")
    text = "\n".join(path.read_text() for path in files)
    missing = [
        f"{scenario}: {name}"
        for scenario, names in SCENARIOS.items()
        for name in names.split()
        if f"def test_{name}(" not in text
    ]
    assert missing == []
