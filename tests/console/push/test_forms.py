"""The push form: every option of a push, spans and moments as people write them."""

import shlex
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from atributo_site.console.push.forms import PushForm
from atributo_site.core.models.clock import database_now
from queues.models import QueuedJob
from tests.factories.jobs import make_job, make_queue, make_script

pytestmark = pytest.mark.django_db
URL = "/services/mailer/-/scripts/send-mail/"
EVERYTHING = {
    "queue": "mail",
    "priority": "1",
    "max_failures": "3",
    "repeat_times": "9",
    "repeat_delay": "1h30m",
    "repeat_until": "2090-01-31T12:00",
    "delay_until": "2089-01-31T12:00+01:00",
    "timeout": "90s",
    "back_off": "500ms",
    "strategy": "foxx",
    "sticky_key": "customer 7",
    "concurrent": "true",
    "unique_key": "-once",
}
FOLD = '<details class="more"{}><summary>{}</summary>'


@pytest.fixture
def operator(client_as):
    make_script()
    make_queue()
    return client_as("operator")


def is_open(page, part):
    assert FOLD.format("", part) in page or FOLD.format(" open", part) in page
    return FOLD.format(" open", part) in page


def codes(page):
    """Return the commands and curls as the words that a shell reads."""
    text = page.partition("The same from a terminal</h2>")[2].partition("</section>")[0]
    return [
        shlex.split(unescape(part.partition("</code>")[0])) for part in text.split("<code>")[1:]
    ]


def test_every_option_of_a_push_can_be_filled_in(operator):
    operator.post(f"{URL}push", {"data-to": "ada", **EVERYTHING})
    job = QueuedJob.objects.get()
    assert (job.priority, job.max_failures, job.repeat_times) == (1, 3, 9)
    assert (job.repeat_delay_ms, job.timeout_ms) == (5_400_000, 90_000)
    assert job.repeat_until == datetime(2090, 1, 31, 12, tzinfo=UTC)
    assert job.due_at == datetime(2089, 1, 31, 11, tzinfo=UTC)
    assert job.back_off == {"strategy": "foxx", "ms": 500}
    assert (job.sticky_key, job.concurrent, job.unique_key) == ("customer 7", True, "-once")


def test_what_is_left_empty_is_left_to_the_script(operator):
    given = dict.fromkeys(EVERYTHING, "") | {"queue": "mail", "data-to": "ada"}
    operator.post(f"{URL}push", given)
    job = QueuedJob.objects.get()
    assert (job.back_off, job.timeout_ms, job.repeat_times) == (1000, None, 0)
    assert (job.sticky_key, job.unique_key, job.repeat_until) == (None, None, None)


@pytest.mark.parametrize(
    ("typed", "part", "said"),
    [
        ({"delay": "soon"}, "Queue and push options", "'soon' is not a duration. Write"),
        ({"repeat_delay": "-5m"}, "Repeat", "is not a duration. Write"),
        ({"repeat_until": "soon"}, "Repeat", "'soon' is not a time. Write it like"),
        ({"timeout": "0"}, "Start time", "greater than or equal to 1"),
        ({"back_off": "9" * 18}, "Start time", "less than or equal to"),
        ({"strategy": "hope"}, "Start time", "not one of the available choices"),
        ({"sticky_key": "x" * 256}, "Start time", "at most 255 characters"),
        (
            {"delay": "5m", "delay_until": "2090-01-31"},
            "Start time",
            "Enter either Start in or Start at, not both",
        ),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_stays(typed, part, said, operator):
    part = f"{part}, time limit, retries, keys" if part == "Start time" else part
    answer = operator.post(f"{URL}push", {"data-to": "ada", "queue": "mail", **typed})
    page = unescape(answer.text)
    assert answer.status_code == 400 and said in page and is_open(page, part)
    for name, value in typed.items():
        assert f'name="{name}" value="{value}"' in page or name == "strategy"
    assert not QueuedJob.objects.exists()


def test_times_are_typed_as_people_say_them(operator):
    given = {"repeat_times": "Forever", "repeat_delay": "1h", "repeat_until": "tomorrow 14:00"}
    operator.post(
        f"{URL}push", {"data-to": "ada", "queue": "mail", "delay_until": "5 minutes", **given}
    )
    job = QueuedJob.objects.get()
    assert job.repeat_times == -1
    assert job.repeat_until.astimezone(UTC).strftime("%H:%M") == "14:00"
    assert timedelta(minutes=4) < job.due_at - job.created_at < timedelta(minutes=6)


def test_a_form_that_nobody_filled_in_is_calm(operator):
    page = operator.get(URL).text
    parts = ("Queue and push options", "Repeat")
    assert not any(is_open(page, part) for part in parts)
    assert "Start time" in page and "Form with these values" not in page


def test_the_address_fills_in_the_options_and_opens_their_part(operator):
    page = operator.get(URL, {"repeat_times": "-1", "repeat_delay": "1h"}).text
    assert is_open(page, "Repeat") and not is_open(page, "Queue and push options")
    assert 'name="repeat_delay" value="1h"' in page
    assert "&#x27;x&#x27;" in operator.get(URL, {"delay": "x"}).text


def test_a_run_that_is_refused_keeps_the_options(operator):
    page = operator.post(URL, {"data-to": "", "data-copies": "x", **EVERYTHING}).text
    assert is_open(page, "Repeat")
    assert 'name="sticky_key" value="customer 7"' in page


def test_commands_and_curls_say_what_was_given(operator):
    page = operator.get(URL, {"data-to": "ada", **EVERYTHING}).text
    run, curl, push, push_curl = codes(page)
    assert '"to": "ada"' in run[-1] and '"to": "ada"' in curl[curl.index("-d") + 1]
    assert push[:5] == ["manage.py", "push", "mail", "/mailer", "send-mail"]
    assert "--repeat-delay 1h30m" in " ".join(push) and "--unique-key=-once" in push
    assert "--back-off foxx:500ms" in " ".join(push) and "--concurrent" in push
    assert push_curl[-1].endswith("/api/v1/queues/mail/jobs")
    assert '"strategy": "foxx", "ms": 500' in push_curl[push_curl.index("-d") + 1]


def test_the_command_pushes_the_same_job(operator):
    from django.core.management import call_command

    page = operator.get(URL, {"data-to": "ada", **EVERYTHING}).text
    call_command(*codes(page)[2][1:])
    job = QueuedJob.objects.get()
    assert (job.timeout_ms, job.unique_key, job.repeat_times) == (90_000, "-once", 9)
    assert job.due_at == datetime(2089, 1, 31, 11, tzinfo=UTC)


def test_the_curl_pushes_the_same_job(operator, rest_as):
    words = codes(operator.get(URL, {"data-to": "ada", **EVERYTHING}).text)[3]
    path, body = urlsplit(words[-1]).path, words[words.index("-d") + 1]
    assert rest_as("operator").generic("POST", path, body, "application/json").status_code == 201
    job = QueuedJob.objects.get()
    assert (job.data["to"], job.back_off["ms"], job.sticky_key) == ("ada", 500, "customer 7")


def test_a_link_leads_to_the_form_filled_in_without_secrets(operator):
    form = {"data-to": "ada", "data-loud": "yes", "data-pin": "canary-1", **EVERYTHING}
    answer = operator.post(URL, {**form, "link": "yes"})
    link = answer.headers["Location"]
    assert answer.status_code == 302 and "canary" not in link
    asked = parse_qs(urlsplit(link).query)
    assert asked["data-to"] == ["ada"] and asked["repeat_delay"] == ["1h30m"]
    page = operator.get(link).text
    assert 'name="data-loud" value="yes" checked' in page and "Form with these values" in page
    assert not QueuedJob.objects.exists()


def test_a_secret_is_in_no_command_of_a_refused_form(operator):
    form = {"data-to": "canary-1", "data-pin": "canary-1", "data-copies": "0", "queue": "mail"}
    page = operator.post(f"{URL}push", form).text
    assert "canary" not in page.partition("The same from a terminal</h2>")[2]


def test_what_is_too_long_for_an_address_says_so(operator):
    answer = operator.post(URL, {"data-to": "x" * 5000, "link": "yes"})
    assert answer.status_code == 400 and "too long for a link" in answer.text


@pytest.mark.django_db(transaction=True)
def test_a_run_with_options_too_long_for_an_address_is_shown_without_them(
    operator, scripts_start_quickly
):
    answer = operator.post(URL, {"data-to": "ada", "unique_key": "x" * 5000})
    assert answer.status_code == 302
    assert list(parse_qs(urlsplit(answer.headers["Location"]).query)) == ["ran"]


def test_a_unique_key_that_is_taken_leads_to_its_job(operator):
    form = {"data-to": "ada", "queue": "mail", "unique_key": "once"}
    first = operator.post(f"{URL}push", form).headers["Location"]
    page = operator.post(f"{URL}push", form, follow=True)
    assert page.redirect_chain[0][0] == first
    assert "already has the unique key" in page.text
    assert page.text.count("Pushed to mail.") == 1  # of the first


def test_pushed_again_a_job_keeps_its_options_unless_they_are_changed(operator):
    queue = make_queue("other")
    options = {"repeat_times": 4, "repeat_delay_ms": 90_000, "timeout_ms": 2000}
    made = {"back_off": {"strategy": "foxx", "ms": 500}, "unique_key": "once", **options}
    job = make_job(queue, "failed", data={"to": "ada"}, sticky_key="s", **made)
    page = operator.get(f"/jobs/{job.pk}/edit/").text
    for name, value in {"repeat_delay": "1m30s", "timeout": "2s", "back_off": "500ms"}.items():
        assert f'name="{name}" value="{value}"' in page
    assert "--repeat-delay 1m30s" in page and "--unique-key once" in page
    form = {"data-to": "ada", "sticky_key": "", "timeout": "3s"}
    operator.post(f"/jobs/{job.pk}/edit/", form)
    new = QueuedJob.objects.exclude(pk=job.pk).get()
    assert (new.queue_id, new.timeout_ms, new.sticky_key) == (queue.pk, 3000, None)
    assert (new.repeat_delay_ms, new.back_off) == (90_000, {"strategy": "foxx", "ms": 500})


def test_pushed_again_what_waits_for_a_moment_waits_for_it_too(operator):
    later = database_now().replace(microsecond=0) + timedelta(days=3)
    job = make_job(make_queue(), data={"to": "ada"}, due_at=later, unique_key="once")
    assert 'name="unique_key" value="once"' not in operator.get(f"/jobs/{job.pk}/edit/").text
    operator.post(f"/jobs/{job.pk}/edit/", {"data-to": "ada"})
    assert QueuedJob.objects.exclude(pk=job.pk).get().due_at == later


def test_pushed_again_code_stays_and_is_named(operator):
    code = {"mount": "/mailer", "name": "send-mail"}
    made = {"success": code, "failure": code, "back_off": code}
    job = make_job(make_queue(), "failed", data={"to": "ada"}, **made)
    page = operator.get(f"/jobs/{job.pk}/edit/").text
    assert "Unchanged: the callback on success, the callback on failure" in page
    assert "--success /mailer/send-mail" in page
    operator.post(f"/jobs/{job.pk}/edit/", {"data-to": "ada", "back_off": ""})
    new = QueuedJob.objects.exclude(pk=job.pk).get()
    assert (new.success, new.failure, new.back_off) == (code, made["failure"], code)


def test_pushed_again_a_function_that_is_not_declared_is_refused(operator):
    made = {"failure": {"function": "os:abort"}}
    job = make_job(make_queue(), "failed", data={"to": "ada"}, **made)
    assert "os:abort" not in operator.get(f"/jobs/{job.pk}/edit/").text
    answer = operator.post(f"/jobs/{job.pk}/edit/", {"data-to": "ada"})
    assert (answer.status_code, "os is not a module of declared" in answer.text) == (400, True)
    assert QueuedJob.objects.get() == job


def test_a_form_that_is_wrong_still_tells_what_is_right():
    form = PushForm({"queue": "mail", "delay": "x", "timeout": "5m"})
    assert form.options() == {"timeout": 300_000}


def test_a_member_of_several_types_is_written_as_json(client_as):
    member = {"type": ["string", "null"]}
    make_script(schema={"type": "object", "properties": {"note": member}})
    page = client_as("operator").get(URL)
    assert (page.status_code, 'name="data-note"' in page.text) == (200, True)
