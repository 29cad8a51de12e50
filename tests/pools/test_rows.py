"""Every scenario and every bug of the original has a test that bears its name."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROWS = [
    *(f"r{n}" for n in range(1, 36)),
    "s1",
    *(f"p{n}" for n in range(1, 23)),
    *(f"c{n}" for n in range(1, 5)),
    *(f"h{n}" for n in range(1, 5)),
    "k1",
    "b1",
]
BUGS = {
    "a restart does not announce what is known": "test_a_restart_announces_everything_again",
    "no nameserver in resolv.conf is a crash": (
        "test_no_nameserver_at_all_is_an_error_and_no_crash"
    ),
    "an empty answer beats a slower one with records": (
        "test_a_lame_server_beside_a_good_one_does_no_harm"
    ),
    "half of the servers decide that all failed": (
        "test_r29_a_slow_good_answer_beats_fast_bad_ones"
    ),
    "the source of a datagram does not matter": "test_a_wrong_source_is_not_listened_to",
    "a TTL of 0 is a hot loop": "test_r25_a_ttl_is_kept_between_floor_and_ceiling",
    "a stranger in Additional shortens the TTL": "test_r23_the_ttl_of_a_stranger_does_not_count",
    "the TTL of an alias is ignored": "test_r24_the_ttl_of_an_alias_counts",
    "SOA MINIMUM alone decides": "test_r20_no_srv_is_believed_as_long_as_the_soa_says",
    "AAAA of a missing name is retried": "test_aaaa_of_a_missing_name_is_asked_once",
    "a host without IPv6 wakes every minute": ("test_no_aaaa_is_no_reason_to_wake_up_every_minute"),
    "one missing SRV answer changes the mode": (
        "test_r16_srv_gone_is_confirmed_before_the_plain_name_is_used"
    ),
    "SRV is looked for an hour later only": (
        "test_r17_srv_and_the_plain_name_gone_keeps_the_backends_and_asks_soon"
    ),
    "priority and weight are ignored": "test_priority_and_weight_reach_the_backends",
    "a target of . is looked up": "test_no_such_service_is_believed_at_once",
    "resolvers are shown after their end": "test_what_is_forgotten_is_not_shown",
    "the SRV port of nameservers is dropped": "test_r31_nameservers_behind_a_name",
    "whoever waits for nameservers waits for ever": "test_a_bootstrap_that_finds_nothing_is_told",
    "a bootstrap that was left is frozen": (
        "test_a_bootstrap_serves_again_after_its_last_user_left"
    ),
    "the last nameserver is taken away": "test_the_last_nameserver_is_never_taken_away",
    "static duplicates count twice": "test_static_duplicates_are_one",
    "without backends a pool is failed": (
        "test_p20_without_backends_a_pool_is_empty_and_not_failed"
    ),
    "claims are not answered on stop": "test_p19_stop_answers_everybody",
    "connect is ignored beside initial": "test_initial_is_for_the_first_success_only",
    "closing a handle makes a backend dead": "test_closing_a_handle_is_no_failure_of_the_backend",
    "an unwanted slot goes on retrying": (
        "test_a_retrying_slot_that_is_not_wanted_any_more_goes_at_once"
    ),
    "a backend that answers 503 is never dead": (
        "test_h2_a_ping_answered_503_makes_the_backend_dead"
    ),
    "a backend that accepts and resets is never dead": (
        "test_a_backend_that_accepts_and_resets_becomes_dead"
    ),
    "busy connections are given up before idle ones": "test_busy_connections_are_given_up_last",
    "the maximum breaks while leases drain": "test_a_removed_backend_drains_and_its_lease_counts",
    "waiters that gave up are counted": "test_claims_that_gave_up_cause_no_growth",
    "the time of a claim starts again": (
        "test_a_claim_keeps_its_place_and_its_time_when_a_connection_breaks"
    ),
    "a hung check holds its slot for ever": "test_a_hung_check_holds_nothing_up",
    "an error while claimed ends the program": (
        "test_p6_a_peer_that_hangs_up_while_claimed_is_replaced"
    ),
    "nobody finds a leaked lease": "test_a_leaked_claim_is_reported_with_its_place",
    "a spread of 0 is 0.2": "test_a_spread_or_ceiling_of_zero_is_zero",
    "resolvers are missing in the snapshot": ("test_the_snapshot_names_the_nameservers_of_a_pool"),
    "two ports of a host share a pool": "test_h1_each_port_has_its_own_pool",
    "the certificate is that of the SRV target": (
        "test_the_certificate_is_the_one_of_the_requested_name"
    ),
    "IPv6 literals break": "test_ipv6_literals",
    "a ping may hang": "test_h2_a_ping_that_hangs_counts_as_a_failure",
    "following says nothing of a failure": "test_follow_tells_a_failure_once",
    "a snapshot port keeps the command alive": (
        "test_a_snapshot_port_does_not_keep_the_command_alive"
    ),
}


@pytest.fixture(scope="module")
def names():
    text = "\n".join(file.read_text() for file in TESTS.rglob("test_*.py"))
    return set(re.findall(r"^def (test_\w+)\(", text, re.MULTILINE))


def test_every_row_has_a_test(names):
    tested = {name.split("_")[1] for name in names}
    assert [row for row in ROWS if row not in tested] == []


def test_every_bug_of_the_original_has_a_test(names):
    assert {bug: name for bug, name in BUGS.items() if name not in names} == {}
