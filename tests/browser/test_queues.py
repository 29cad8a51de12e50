"""The screens of queues, jobs and services in a real Chromium."""

import re

import pytest
from playwright.sync_api import expect

from allocation.models.clock import database_now
from queues.models import MinuteCount, Queue, QueuedJob
from tests.browser.test_contrast import CONTRAST
from tests.site.job_rows import make_job, make_queue, make_run, make_script

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")

PHONE = {"viewport": {"width": 390, "height": 844}}
INJECTION = "<img src=x onerror=alert(1)><b id=injected>"


@pytest.fixture
def story(transactional_db):
    """A screen of each kind has something to show; the newest failed job is returned."""
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


def screens(job):
    running = QueuedJob.objects.get(status="progress").pk
    return [
        "/queues/",
        "/queues/mail/",
        "/queues/mail/delete",
        "/jobs/",
        "/jobs/?state=failed&q=error:value",
        "/jobs/failures/",
        f"/jobs/{job.pk}/",
        f"/jobs/{running}/",
        f"/jobs/{job.pk}/edit/",
        f"/jobs/{job.pk}/delete",
        "/services/",
        "/services/mailer/",
        "/services/mailer/-/scripts/send-mail/",
        "/services/mailer/-/uninstall",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_screen_fits_a_phone_and_can_be_read(theme, page_as, story):
    page = page_as("admin", **PHONE, color_scheme=theme)
    for path in screens(story):
        assert page.goto(path).status == 200
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path
        assert page.evaluate(CONTRAST) == [], path
        assert page.locator("#injected").count() == 0


def test_empty_screens_name_the_next_command(page_as, transactional_db):
    Queue.objects.all().delete()
    page = page_as("admin")
    for path in ("/queues/", "/jobs/", "/services/"):
        assert page.goto(path).status == 200
        expect(page.locator(".empty .command")).to_be_visible()


def test_pause_and_resume_with_the_mouse(page_as, story):
    page = page_as("operator")
    page.goto("/queues/")
    page.get_by_role("button", name="Pause mail").click()
    expect(page.get_by_text("mail is paused")).to_be_visible()
    page.get_by_role("button", name="Resume mail").click()
    expect(page.get_by_text("mail runs again")).to_be_visible()


@pytest.mark.parametrize("javascript", [True, False])
def test_from_a_failing_group_to_all_of_it_retried(javascript, page_as, story):
    page = page_as("operator", java_script_enabled=javascript)
    page.goto("/jobs/failures/")
    page.get_by_role("button", name="Retry this group").click()
    expect(page.get_by_role("heading", name="Retry 7 jobs?")).to_be_visible()
    page.get_by_role("button", name="Retry 7 jobs").click()
    expect(page.get_by_text("7 jobs of 7 changed")).to_be_visible()
    assert not QueuedJob.objects.filter(status="failed").exists()


@pytest.mark.parametrize("javascript", [True, False])
def test_mend_the_data_and_push_it_again(javascript, page_as, story):
    page = page_as("operator", java_script_enabled=javascript)
    page.goto(f"/jobs/{story.pk}/")
    page.get_by_role("link", name="Edit and push again").click()
    page.get_by_role("textbox", name="To *").fill("right")
    page.get_by_role("button", name="Push as a new job").click()
    expect(page.get_by_text("Pushed as a new job")).to_be_visible()
    assert QueuedJob.objects.order_by("-created_at").first().data["to"] == "right"


def test_ticked_jobs_are_deleted_after_a_question(page_as, story):
    page = page_as("operator")
    page.goto("/jobs/?state=failed")
    page.get_by_label(f"Choose job {story.pk}").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete 1 job").click()
    expect(page.get_by_text("1 job of 1 changed")).to_be_visible()
    assert not QueuedJob.objects.filter(pk=story.pk).exists()


def test_a_running_job_shows_new_lines_and_its_end(page_as, story):
    job = QueuedJob.objects.get(status="progress")
    page = page_as("viewer")
    page.goto(f"/jobs/{job.pk}/")
    job.log.create(attempt=1, level="info", text="a new line")
    expect(page.get_by_text("a new line")).to_be_visible(timeout=20_000)
    QueuedJob.objects.filter(pk=job.pk).update(status="complete", slot=None, ended_at=job.due_at)
    expect(page.get_by_text("Running now")).to_have_count(0, timeout=20_000)


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


@pytest.mark.parametrize("javascript", [True, False])
def test_many_jobs_are_retried_in_the_background(javascript, page_as, story):
    for _ in range(100):
        make_job(story.queue, "failed", error="ValueError: 1")
    page = page_as("operator", java_script_enabled=javascript)
    page.goto("/jobs/?state=failed&q=queue:mail")
    page.get_by_label("All 107 matching").check()
    page.get_by_role("button", name="Retry").click()
    page.get_by_label("Reason").fill("mended")
    page.get_by_role("button", name="Retry 107 jobs").click()
    expect(page.get_by_text("of 107 jobs visited")).to_be_visible()
    page.get_by_role("button", name="Stop it").click()
    expect(page.get_by_text("what is done stays done")).to_be_visible()


def test_a_bar_of_the_chart_opens_its_jobs(page_as, story):
    minute = database_now().replace(second=0, microsecond=0)
    MinuteCount.objects.create(queue=story.queue, minute=minute, failed=7, started=7, run_1=7)
    page = page_as("viewer")
    page.goto("/")
    chart = page.locator("[data-chart=throughput] .u-over")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] - 3, "y": box["height"] - 5})
    expect(page).to_have_url(re.compile(r"/jobs/\?state=failed&since="))
    expect(page.locator("tbody tr")).to_have_count(7)
    plain = page_as("viewer", java_script_enabled=False)
    plain.goto("/")
    expect(plain.locator(".chart-draw a")).to_have_attribute("href", re.compile("state=failed"))


def test_a_view_is_saved_and_removed(page_as, story):
    page = page_as("viewer")
    page.goto("/jobs/?state=failed")
    page.get_by_text("Save this view").click()
    page.get_by_label("Name of the view").fill("Broken")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_role("link", name="Broken").click()
    expect(page).to_have_url(re.compile(r"/jobs/\?state=failed$"))
    page.get_by_label("Remove the view Broken").click()
    expect(page.get_by_text("is removed")).to_be_visible()


def test_a_repeat_is_run_now_from_its_schedule(page_as, story):
    make_job(story.queue, repeat_times=-1, repeat_delay_ms=5000, due_at="2099-01-01T00:00:00Z")
    page = page_as("operator")
    page.goto("/schedules/")
    page.get_by_role("button", name="Run now: send-mail").click()
    expect(page.get_by_text("The job is due now.")).to_be_visible()
    expect(page.get_by_role("heading", name="Schedules")).to_be_visible()
