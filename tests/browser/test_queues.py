"""The screens of queues, jobs and services in a real Chromium."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

import queues
from atributo_site.core.models.clock import database_now
from queues.catalogue import set_target_age
from queues.models import MinuteCount, Queue, QueuedJob
from tests.browser.live_menu import COME_BACK, WITHOUT_CLOCK, choose
from tests.factories.jobs import make_job, make_queue, make_run, make_script
from tests.fixtures.browser import WORDS_STAY

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

# Whoever comes back to a tab is shown what is new at once, before a later timer ends.
SIDEWAYS = """() => [...document.querySelectorAll("main .card")]
    .filter((card) => card.scrollWidth > card.clientWidth).map((card) => card.id || card.className)
"""
INJECTION = "<img src=x onerror=alert(1)><b id=injected>"


@pytest.fixture
def story(transactional_db):
    """Fill a screen of each kind and return the newest failed job."""
    make_script()
    queue = make_queue()
    make_job(queue, data={"to": INJECTION})
    running = make_job(queue, "progress", attempt=1)
    make_run(running, 1, "running", lines=["counted 1", INJECTION], percent=40.0, note="4 of 10")
    make_job(queue, "complete", result={"n": 12345678901234567890})
    for number in range(7):
        job = make_job(queue, "failed", error=f"ValueError: {number}", data={"to": "wrong"})
    make_run(job, 1, error="ValueError: 6", traceback="Traceback " + "x" * 300, lines=["said"])
    return job


def test_empty_screens_name_the_next_command(page_as, transactional_db):
    Queue.objects.all().delete()
    page = page_as("admin")
    for path in ("/queues/", "/jobs/", "/services/"):
        assert page.goto(path).status == 200
        expect(page.locator(".empty .command")).to_be_visible()


def test_a_running_job_shows_new_lines_and_its_end(page_as, story):
    job = QueuedJob.objects.get(status="progress")
    page = page_as("viewer")
    page.goto(f"/jobs/{job.pk}/")
    job.log.create(attempt=1, level="info", text="a new line")
    expect(page.get_by_text("a new line")).to_be_visible()
    QueuedJob.objects.filter(pk=job.pk).update(status="complete", slot=None, ended_at=job.due_at)
    expect(page.get_by_text("Running now")).to_have_count(0)


def test_lists_fit_the_screens_that_people_have(page_as, story):
    wide = {"from": "katherine", "to": "edsger", "amount": 100_000, "text": "long " * 20}
    imports = make_queue("imports")
    make_job(imports, "failed", script="multiply-all", error="E: 1", data=wide)
    make_job(imports, due_at=database_now() - timedelta(hours=23, minutes=59))
    set_target_age("imports", 3599)
    page = page_as("admin")
    too_wide = {}
    for width in (1440, 1366, 1280, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        for path in ("/", "/jobs/", "/jobs/failures/", "/queues/"):
            page.goto(path)
            too_wide[width, path] = page.evaluate(SIDEWAYS)
    assert {place: found for place, found in too_wide.items() if found} == {}
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 900


def test_back_leads_through_questions_without_asking_for_the_form(page_as, story):
    page = page_as("operator")
    page.goto("/jobs/failures/")
    page.get_by_role("link", name="Retry this group").click()
    page.locator(".job-id").first.click()
    page.go_back()
    expect(page.get_by_role("heading", name="Retry 7 jobs?")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Retry 7 jobs")).to_be_visible()


def test_the_buttons_of_a_job_follow_its_state(page_as, story):
    job = QueuedJob.objects.get(status="pending")
    page = page_as("operator")
    page.goto(f"/jobs/{job.pk}/")
    page.get_by_role("link", name="Abort").focus()
    QueuedJob.objects.filter(pk=job.pk).update(status="complete", ended_at=job.due_at)
    page.evaluate(COME_BACK)
    expect(page.get_by_role("link", name="Run again")).to_be_visible()
    expect(page.get_by_role("link", name="Abort")).to_have_count(0)
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Run send-mail again?")).to_be_visible()


def test_the_head_of_a_queue_follows_what_others_do(page_as, story):
    page = page_as("admin")
    page.goto("/queues/mail/")
    expect(page.get_by_label("Jobs at once", exact=True).last).to_have_value("2")
    queues.pause("mail")
    queues.create("mail", 5)
    page.evaluate(COME_BACK)
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    expect(page.get_by_label("Jobs at once", exact=True).last).to_have_value("5")


def test_workers_are_stepped_without_javascript_by_what_is_there_now(page_as, story):
    page = page_as("admin", java_script_enabled=False)
    page.goto("/queues/mail/")
    queues.create("mail", 5)
    page.get_by_role("button", name="One job fewer at once").click()
    expect(page.get_by_text("mail runs up to 4 jobs at once.")).to_be_visible()


def test_what_was_ahead_is_due_while_somebody_types(page_as, story):
    soon = database_now() + timedelta(hours=1)
    make_job(story.queue, due_at=soon, repeat_times=-1, repeat_delay_ms=1000)
    page = page_as("operator")
    page.clock.install()
    page.goto("/schedules/")
    page.locator("summary", has_text="Pause").click()
    page.locator("[name=reason]").fill("month's end")
    page.clock.fast_forward(3_700_000)
    expect(page.locator('[data-label="Next runs"]')).to_have_text("due now")


def test_an_age_grows_while_no_hint_comes(page_as, story):
    page = page_as("viewer")
    page.clock.install()
    page.goto("/queues/")
    choose(page, "Paused")
    page.clock.run_for(61_000)
    expect(page.locator("[data-age]").first).to_have_text(re.compile(r"^\d+m"))


def test_a_viewer_finds_the_failing_job_by_its_error(page_as, story):
    page = page_as("viewer")
    page.goto("/jobs/")
    page.get_by_role("combobox", name="Search jobs").fill('error:"valueerror: 6"')
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator(".job-id").click()
    expect(page).to_have_url(re.compile(rf"/jobs/{story.pk}/$"))
    expect(page.get_by_role("button", name="Retry")).to_have_count(0)


def test_the_keyboard_goes_through_rows_ticks_and_retries(page_as, story):
    page = page_as("operator")
    page.add_init_script(WITHOUT_CLOCK)
    page.goto("/jobs/?state=failed")
    for key in "jjkx":
        page.keyboard.press(key)
    expect(page.locator("tbody tr").first.locator("input[name=job]")).to_be_checked()
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Retry 1 job?")).to_be_visible()
    page.go_back()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/jobs/{story.pk}/$"))


# Where the only bar of the chart begins, as a share of its width.
WHERE = """() => {
  const points = JSON.parse(document.getElementById("chart-points").textContent);
  const [first, last] = [points.at[0], points.at.at(-1) + points.slice];
  const bar = points.at[points.failed.findIndex(Boolean)] + points.slice / 4;
  return (bar - first) / (last - first);
}"""


def test_a_bar_of_the_chart_opens_its_jobs(page_as, story):
    minute = (database_now() - timedelta(minutes=10)).replace(second=0, microsecond=0)
    MinuteCount.objects.create(queue=story.queue, minute=minute, failed=7, started=7, run_1=7)
    QueuedJob.objects.filter(status="failed").update(ended_at=minute + timedelta(seconds=30))
    page = page_as("viewer")
    page.add_init_script(WITHOUT_CLOCK)
    page.goto("/")
    chart = page.locator("[data-chart=throughput] .u-over")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] * page.evaluate(WHERE), "y": box["height"] - 5})
    expect(page).to_have_url(re.compile(rf"/jobs/\?state=failed&since={minute:%Y-%m-%dT%H%%3A%M}"))
    expect(page.locator("tbody tr")).to_have_count(7)
    plain = page_as("viewer", java_script_enabled=False)
    plain.goto("/")
    expect(plain.locator(".chart-draw a")).to_have_attribute("href", re.compile("state=failed"))


def test_a_bar_of_retries_alone_opens_nothing(page_as, story):
    minute = (database_now() - timedelta(minutes=10)).replace(second=0, microsecond=0)
    MinuteCount.objects.create(queue=story.queue, minute=minute, failed=7, retried=7)
    page = page_as("viewer")
    page.add_init_script(WITHOUT_CLOCK)
    page.goto("/queues/mail/")
    chart = page.locator("[data-chart=throughput] .u-over")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] * page.evaluate(WHERE), "y": box["height"] - 5})
    expect(page.locator("[data-chart=throughput] .u-legend")).to_contain_text("attempts failed7")
    expect(chart).not_to_have_class(re.compile("opens"))
    expect(page).to_have_url(re.compile("/queues/mail/$"))


def test_a_quarter_has_a_bar_per_day_of_utc(page_as, story):
    day = (database_now() - timedelta(days=40)).replace(hour=0, minute=0, second=0, microsecond=0)
    MinuteCount.objects.create(queue=story.queue, minute=day, failed=7)
    page = page_as("viewer", timezone_id="America/New_York")
    page.add_init_script(WITHOUT_CLOCK)
    page.goto("/queues/mail/")
    page.get_by_role("link", name="90d").click()
    chart = page.locator("[data-chart=throughput] .u-over")
    box = chart.bounding_box()
    chart.hover(position={"x": box["width"] * page.evaluate(WHERE), "y": box["height"] - 5})
    legend = page.locator("[data-chart=throughput] .u-legend .u-value").first
    expect(legend).to_have_text(f"{day:%d/%m/%Y} UTC")


@pytest.mark.parametrize("bucket", [0, 2, 3, 4, 5])
def test_the_legend_says_durations_as_the_server_does(bucket, page_as, transactional_db):
    minute = (database_now() - timedelta(minutes=10)).replace(second=0, microsecond=0)
    counts = {"complete": 9, f"run_{bucket}": 9}
    MinuteCount.objects.create(queue=make_queue(), minute=minute, **counts)
    page = page_as("viewer")
    page.goto("/")
    chart = page.locator("[data-chart=run]")
    main, more = chart.locator(".tile-main").inner_text(), chart.locator("figcaption .muted")
    p50, p99 = (said.split(" ", 1)[1] for said in more.inner_text().split(" · "))
    legend = chart.locator(".u-legend .u-value")
    expect(legend).to_have_text(["newest", p50, main.removesuffix(" p95"), p99])


def test_a_list_with_a_tick_waits_with_its_refresh(page_as, story):
    page = page_as("operator")
    page.goto("/jobs/?state=failed")
    page.get_by_label(f"Select job {story.pk}").check()
    page.locator("h1").click()
    asked = []  # from now on: on a slow machine the clock asked before the tick
    page.on("request", lambda request: asked.append(request.headers.get("hx-request")))
    page.evaluate(COME_BACK)
    assert "true" not in asked
    page.get_by_label(f"Select job {story.pk}").uncheck()
    page.locator("h1").click()
    with page.expect_request(lambda request: request.headers.get("hx-request") == "true"):
        page.evaluate(COME_BACK)


def test_what_asks_by_its_own_clock_is_paused_with_the_page(page_as, story):
    job = QueuedJob.objects.get(status="progress")
    page = page_as("viewer")
    page.goto(f"/jobs/{job.pk}/")
    choose(page, "Paused")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("htmx.ajax('GET', location.href, {source: '#running', target: '#running'})")
    with page.expect_response("**/healthz"):
        page.evaluate("fetch('/healthz')")
    assert [url for url in asked if "/jobs/" in url] == []


def test_a_second_click_pushes_no_second_job(page_as, story):
    page = page_as("operator")
    page.goto(f"/jobs/{story.pk}/edit/")
    page.get_by_role("button", name="Push as a new job").dblclick()
    expect(page.get_by_text("Pushed again as")).to_be_visible()
    assert QueuedJob.objects.filter(pk__gt=story.pk).count() == 1


def test_a_command_is_copied_where_the_browser_has_no_clipboard(page_as, transactional_db):
    page = page_as("viewer")
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.add_init_script(WORDS_STAY)
    page.goto("/queues/")
    page.get_by_text("The same from a terminal").click()
    page.get_by_role("button", name="Copy the command").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    page.locator("[data-search]").focus()
    page.keyboard.press("Control+v")
    expect(page.locator("[data-search]")).to_have_value("manage.py queue list")
