"""The errands of people in a real Chromium, from the overview, with the number of their clicks."""

import re

import pytest
from playwright.sync_api import expect

import queues
from allocation.atributo import Atributo
from allocation.models import Instance
from allocation.transactions import Client
from allocation.transactions.models import Lock, Transaction
from atributo_site.config.places import BASE_DIR
from pools.models import Pool
from queues.models import Operation, Queue, QueuedJob, Schedule
from tests.browser.errands import CLICKS, Hand
from tests.factories.jobs import make_job, make_queue, make_script
from tests.factories.open_transactions import open_transaction
from tests.servers.waiting import wait_until

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")
SEND = "main form[method=post] button[type=submit]"


@pytest.fixture
def hand(page_as, transactional_db):
    """hand("admin") → a hand at the overview."""

    def at_the_overview(role="admin"):
        page = page_as(role)
        page.goto("/")
        return Hand(page)

    return at_the_overview


@pytest.fixture
def ground(migrated_database, monkeypatch, scripts_are_taken):
    """Let scripts run, in a child that sees this database."""
    monkeypatch.setenv("DATABASE_URL", migrated_database.url)


def done(hand, errand):
    """Check that the errand took as many clicks as the docs say."""
    assert hand.clicks == CLICKS[errand]


def fail(count, **fields):
    make_script()
    queue = make_queue()
    error = "Teapot: I am a teapot"
    return [
        make_job(queue, "failed", error=error, data={"to": "wrong"}, **fields) for _ in range(count)
    ]


def test_correct_the_data_of_a_failed_job(hand):
    fail(6)
    hand = hand("operator")
    hand.click('.attention a[href*="fingerprint="]')
    hand.click("#jobs td .job-id")
    hand.click('main a[href*="/edit"]')
    hand.fill("data-to", "right")
    hand.click(SEND)
    expect(hand.page.get_by_role("status").first).to_be_visible()
    assert QueuedJob.objects.get(status="pending").data["to"] == "right"
    done(hand, "Correct the data of a failed job and run it again")


def test_retry_all_of_one_error(hand):
    fail(6)
    hand = hand("operator")
    hand.go_to("by error", "/jobs/failures/")
    hand.click('main a[href*="action=retry"]')
    hand.click(SEND)
    expect(hand.page.locator(".messages, [role=status]").first).to_be_visible()
    assert QueuedJob.objects.filter(status="pending").count() == 6 or Operation.objects.exists()
    done(hand, "Retry all jobs of one error")


def schedule(hand, name, script, data=""):
    """Fill in the form of a new schedule and send it."""
    hand.go_to("schedules", "/schedules/")
    hand.click('main a[href="/schedules/new/"]')
    hand.fill("name", name)
    hand.choose("script", script)
    hand.fill("when", "every 5 minutes")
    hand.choose("ends", "until")
    hand.fill("until", "tomorrow 14:00")
    hand.fill("queue", "default")
    hand.fill("data", data)
    hand.click(SEND)
    hand.page.wait_for_url(f"**/schedules/by-name/{name}/")
    made = Schedule.objects.get(name=name)
    assert made.rule["every"] == 300_000 and made.ends_at is not None


def test_schedule_every_five_minutes_until_tomorrow(hand):
    make_script(name="digest", schema=None)
    queues.create("default")
    hand = hand("operator")
    schedule(hand, "digest", "/mailer/digest")
    done(hand, "Run a script every 5 minutes until tomorrow")


def test_install_run_and_schedule_a_service(hand, ground):
    hand = hand()
    hand.go_to("services", "/services/")
    hand.choose("folder", "multiplier")
    hand.fill("mount", "/shop")
    hand.click('main form[action="/services/"] button[type=submit]')
    hand.click('main a[href="/services/shop/-/scripts/multiply/"]')
    hand.fill("data-0", "6")
    hand.fill("data-1", "7")
    hand.click('main form[method=post] button:has-text("Run now")')
    hand.page.wait_for_url(re.compile("[?&]ran="))
    wait_until(lambda: hand.page.reload() and hand.page.locator(".tree").count(), 120)
    expect(hand.page.locator(".tree")).to_contain_text("42")
    schedule(hand, "sevens", "/shop/multiply", "[6, 7]")
    done(hand, "Install a service, run its script and schedule it")


def test_pause_and_scale(hand):
    make_queue()
    hand = hand()
    hand.go_to("mail", "/queues/mail/")
    hand.click('main form[action$="/pause"] button')
    expect(hand.page.locator('main form[action$="/resume"] button')).to_be_visible()
    hand.fill("max_workers", "7")
    hand.click("main button[form=scale]")
    expect(hand.page.locator('main [name="max_workers"]')).to_have_value("7")
    queue = Queue.objects.get(name="mail")
    assert (queue.max_workers, queue.paused) == (7, True)
    done(hand, "Pause a queue and scale it")


def test_drain_and_stop(hand):
    Atributo().available("ada")
    Atributo().allocate_many([f"key-{number}" for number in range(9)])
    Atributo().available("grace")
    hand = hand("operator")
    hand.go_to("ada", "/instances/ada/")
    hand.fill("moves_per_minute", "60")
    hand.click('main form[action$="/drain"] button[type=submit]:not([name=preview])')
    expect(hand.page.locator("#doing")).to_contain_text("per minute")
    hand.click('main form[action$="/stop"] button')
    expect(hand.page.locator("#doing")).to_have_count(0)
    assert Instance.objects.get(pk="ada").state == "unavailable"
    done(hand, "Drain an instance, watch it, stop the drain")


def test_where_a_key_is_and_was(hand):
    ao = Atributo()
    ao.available("ada")
    ao.allocate("customer-7")
    ao.deallocate("customer-7")
    ao.unavailable("ada")
    ao.available("grace")
    ao.allocate("customer-7")
    hand = hand("viewer")
    hand.go_to("customer-7", "/allocations/customer-7/")
    for instance in ("grace", "ada"):
        expect(hand.page.locator("main")).to_contain_text(instance)
    done(hand, "Find out where a key is and was")


def held(key):
    txn = open_transaction(Client(), "vera")
    txn.put("accounts", key, {"balance": 90})
    return txn.id


def test_free_a_lock_and_roll_back(hand):
    held("ada")
    other = held("grace")
    hand = hand()
    hand.go_to("locks", "/transactions/locks/")
    hand.click('main tr:has-text("ada") a[href*="/release"]')
    hand.fill("reason", "its holder is gone")
    hand.click(SEND)
    hand.page.wait_for_url("**/transactions/locks/")
    hand.go_to(str(other), f"/transactions/{other}/")
    hand.click('main a[href*="roll"]')
    hand.fill("reason", "half done")
    hand.click(SEND)
    hand.page.wait_for_url(f"**/transactions/{other}/")
    assert not Lock.objects.exists()
    assert Transaction.objects.get(pk=other).status == "rolled_back"
    done(hand, "Free a lock, and roll back a transaction")


def test_watch_a_name(hand):
    hand = hand()
    hand.go_to("dns", "/pools/")
    hand.click('main a[href="/pools/new/"], main a[href="/pools/new"]')
    hand.fill("name", "web")
    hand.fill("domain", "svc.example")
    hand.click(SEND)
    hand.page.wait_for_url("**/pools/watched/web/")
    assert Pool.objects.get().domain == "svc.example"
    done(hand, "Watch a name in DNS")


def test_token_and_curl(hand, client_as):
    hand = hand("viewer")
    hand.go_to("tokens", "/system/tokens/")
    hand.fill("name", "ci")
    hand.click('main form[action$="/tokens/"] button[type=submit]')
    button = hand.page.locator(".once [data-copy]")
    token = button.get_attribute("data-copy")
    hand.click(".once [data-copy]")
    bearer = {"Authorization": f"Bearer {token}"}
    assert client_as(None).get("/api/v1/me", headers=bearer).json()["user"] == "viewer"
    done(hand, "Create a token and use it with curl")


def test_what_went_wrong(hand):
    fail(6)
    hand = hand("viewer")
    hand.click('nav a[href="/incidents/"]')
    expect(hand.page.locator("main")).to_contain_text("Teapot")
    done(hand, "See what went wrong in the last hour")


def test_a_user_who_may_only_look(hand, page_as):
    make_queue()
    hand = hand()
    hand.go_to("users", "/system/users/")
    hand.fill("username", "vera")
    hand.click('main form[action$="/users/"] button[type=submit]')
    password = hand.page.locator(".once [data-copy]").get_attribute("data-copy")
    done(hand, "Create a user who may only look")
    page = page_as(None)
    page.goto("/admin/login/?next=/queues/")
    page.locator("[name=username]").fill("vera")
    page.locator("[name=password]").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url("**/queues/")
    expect(page.locator("main")).to_contain_text("mail")
    expect(page.locator("main form[method=post]")).to_have_count(0)


def test_the_docs_have_these_numbers():
    text = (BASE_DIR / "docs" / "console.md").read_text()
    told = re.findall(r"^\| ([^|]+) \| (\d+) \|", text.partition("**Errands**")[2], re.MULTILINE)
    assert {errand: int(clicks) for errand, clicks in told} == CLICKS
