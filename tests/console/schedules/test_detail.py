"""The form, the page and the buttons of a schedule, as a person uses them."""

from datetime import timedelta
from html import unescape

import pytest
from django.core.management import call_command

from atributo_site.console.schedules.month import month_of
from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.models import QueuedJob, Schedule, ScheduledRun
from tests.factories.jobs import make_queue, make_script
from tests.queues.logic.schedules.walker import utc

FORM = {
    "name": "nightly",
    "script": "/mailer/send-mail",
    "when": "every day at 02:30",
    "zone": "Europe/Berlin",
    "ends": "forever",
    "queue": "mail",
    "overlap": "skip",
}
PAGE = "/schedules/by-name/nightly/"


@pytest.fixture
def person(client_as):
    make_script(schema=None)
    make_queue("mail")
    return client_as("operator")


@pytest.fixture
def nightly(person):
    person.post("/schedules/new/", FORM)
    return Schedule.objects.get()


def test_the_form_creates_a_schedule_and_runs_nothing(person):
    answer = person.post("/schedules/new/", FORM, follow=True)
    assert "Schedule nightly is created." in answer.text
    schedule = Schedule.objects.get()
    assert schedule.rule == {"calendar": {"times": ["02:30"]}}
    assert (schedule.zone, schedule.ends_at) == ("Europe/Berlin", None)
    assert not QueuedJob.objects.exists()


def test_the_first_button_creates_so_that_enter_does(person):
    page = person.get("/schedules/new/").text
    main = page[page.index("<main") :]
    assert main.index("Create schedule") < main.index("Show the next runs")
    assert "Run now" not in main


@pytest.mark.parametrize(
    "typed, said",
    [
        ({"when": "soon"}, "is not a rule; write"),
        ({"when": "61 * * * *"}, "The minute field is"),
        ({"when": "0 0 30 2 *"}, "30 February"),
        ({"zone": "Mars/Base"}, "There is no time zone"),
        ({"ends": "until"}, "Enter an end time"),
        ({"ends": "runs"}, "Enter a number of runs"),
        ({"when": "5 minutes"}, "is a duration; write every 5 minutes"),
        ({"starts": "whenever"}, "is not a time; write tomorrow 14:00"),
        ({"starts": "tomorrow noon"}, "'tomorrow noon' is not a time"),
        ({"queue": "nowhere"}, "Queue does not exist: nowhere"),
        ({"data": "{"}, "This is not valid JSON"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(person, typed, said):
    answer = person.post("/schedules/new/", {**FORM, **typed})
    assert answer.status_code in (400, 404)
    assert said in unescape(answer.text)
    assert 'value="nightly"' in answer.text
    assert not Schedule.objects.exists()


def test_an_empty_box_is_an_object_without_members(client_as):
    make_queue("mail")
    person = client_as("operator")
    make_script(schema={"type": "object", "required": ["to"]})
    page = person.post("/schedules/new/", {**FORM, "data": ""}).text
    assert '<p class="field-error">Data: to is missing.</p>' in page
    make_script(name="count", schema={"type": "object", "properties": {"to": {"default": 3}}})
    person.post("/schedules/new/", {**FORM, "script": "/mailer/count", "data": ""})
    assert Schedule.objects.get().data == {}  # each run has the defaults


def test_null_is_refused_in_the_same_words_at_both_doors(rest_as, capsys):
    make_script(schema={"type": "object", "required": ["to"]})
    make_queue("mail")
    said = "must be an object, but is empty"
    job = {"script": {"mount": "/mailer", "name": "send-mail"}, "data": None}
    answer = rest_as("operator").post("/api/v1/queues/mail/jobs", job, "application/json")
    assert said in answer.json()["detail"]
    with pytest.raises(SystemExit):
        call_command("push", "mail", "/mailer", "send-mail", "--data", "null")
    assert said in capsys.readouterr().err


def test_a_preview_stores_nothing_and_marks_the_night(person):
    given = {**FORM, "starts": "2028-03-20 00:00", "preview": "yes"}
    page = person.post("/schedules/new/", given).text
    assert "02:30 does not exist on 26 March: runs at 03:00" in page
    assert not Schedule.objects.exists()


def test_a_change_is_previewed_and_saved(person, nightly):
    changed = {**FORM, "when": "mon at 02:30"}
    page = person.post(f"{PAGE}edit/", {**changed, "preview": "yes"}).text
    assert "6 runs fewer in the next 7 days" in page
    assert "Schedule nightly is changed." in person.post(f"{PAGE}edit/", changed, follow=True).text
    assert Schedule.objects.get().rule == {"calendar": {"weekdays": ["mon"], "times": ["02:30"]}}
    assert 'value="Monday at 02:30"' in person.get(f"{PAGE}edit/").text


def test_buttons_pause_resume_run_and_delete(person, nightly):
    given = {"reason": "holidays", "until": "tomorrow 9:00"}
    assert "is paused" in person.post(f"{PAGE}pause", given, follow=True).text
    assert Schedule.objects.get().paused_until is not None
    assert "is resumed" in person.post(f"{PAGE}resume", follow=True).text
    assert "is pushed as" in person.post(f"{PAGE}run", follow=True).text
    assert QueuedJob.objects.count() == 1
    assert "Delete schedule nightly" in person.get(f"{PAGE}delete").text
    assert "is deleted" in person.post(f"{PAGE}delete", follow=True).text
    assert not Schedule.objects.exists()


def test_the_page_shows_expected_against_actual_and_the_month(person, nightly):
    now = database_now()
    for hours, state, reason in ((3, "complete", ""), (2, "missed", "the curator was away")):
        slot = now - timedelta(hours=hours)
        late = slot + timedelta(seconds=2.1) if state == "complete" else None
        ScheduledRun.objects.create(
            schedule=nightly,
            slot_at=slot,
            start_by=slot,
            state=state,
            reason=reason,
            started_at=late,
        )
    page = person.get(PAGE).text
    assert "late by 2.1s" in page
    assert "the curator was away" in page
    assert "02:30" in page
    assert "expected" in page
    assert "February 2030" in person.get(f"{PAGE}?month=2030-02").text


@pytest.mark.parametrize(
    "changes, last_days",
    [
        ({}, [288, 288, 276]),  # the last one has 23 hours
        ({"most_runs": 600, "runs": 24}, [288, 288, 0]),
    ],
)
def test_a_month_counts_every_run_it_expects(nightly, changes, last_days):
    rule = {"cron": "*/5 * * * *"}
    Schedule.objects.update(rule=rule, starts_at=utc(2030, 3, 28, 23), **changes)
    nightly.refresh_from_db()
    month = month_of(nightly, "2030-03", utc(2029, 1, 1))
    counts = [dict(day.counts).get("expected", 0) for week in month["weeks"] for day in week]
    assert (sum(counts[:-3]), counts[-3:]) == (0, last_days)


def test_runs_show_their_seconds(person, nightly):
    Schedule.objects.update(rule={"every": 90_000}, starts_at=utc(2030, 3, 28), zone="UTC")
    page = person.get(PAGE).text
    assert "2030-03-28 00:01:30 " in page and "2030-03-28 00:03 " in page
    assert "00:01:30 UTC" in page and "00:03 UTC" in page


def test_a_month_says_from_when_on_it_counts(person, nightly, monkeypatch):
    monkeypatch.setattr("atributo_site.console.schedules.month.MOST_RUNS", 3)
    for hour, minute in ((22, 57), (22, 58), (22, 59), (23, 0), (23, 1)):
        slot = utc(2026, 3, 2, hour, minute)
        ScheduledRun.objects.create(schedule=nightly, slot_at=slot, start_by=slot, state="missed")
    month = month_of(nightly, "2026-03", utc(2026, 4, 1))
    days = {day.day.day: day.counts for day in month["weeks"][1]}
    assert (days[2], days[3]) == ([("missed", 1)], [("missed", 2)])
    assert "from 2026-03-02 23:59 on" in person.get(f"{PAGE}?month=2026-03").text


def test_the_list_shows_both_kinds_and_a_zone_that_is_gone_breaks_nothing(person, nightly):
    Schedule.objects.update(zone="Mars/Base")
    assert "nightly" in person.get("/schedules/").text
    assert "There is no time zone" in person.get(PAGE).text
    assert person.get(f"{PAGE}edit/").status_code == 200


def test_a_viewer_sees_no_buttons(nightly, client_as):
    viewer = client_as("viewer")
    page = viewer.get(PAGE).text
    assert f'action="{PAGE}run"' not in page
    assert viewer.post(f"{PAGE}run").status_code == 403
    assert schedules.row("nightly").state == "active"
