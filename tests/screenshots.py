"""The pictures of README and docs: `make screenshots` starts a demo site and takes them."""

import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from atributo_site.config.places import BASE_DIR
from tests.manual.tutorial import Tutorial
from tests.servers import chromium
from tests.servers.site import PASSWORD, Site
from tests.servers.waiting import wait_until

IMAGES = BASE_DIR / "docs" / "images"
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
PICTURES = [
    ("overview", "/?range=24h", DESKTOP, "light"),
    ("overview-dark", "/?range=24h", DESKTOP, "dark"),
    ("overview-phone", "/", PHONE, "light"),
    ("queues", "/queues/", DESKTOP, "light"),
    ("queues-phone", "/queues/", PHONE, "dark"),
    ("jobs", "/jobs/", DESKTOP, "light"),
    ("job", "/jobs/{job}/", DESKTOP, "light"),
    ("failures", "/jobs/failures/", DESKTOP, "dark"),
    ("schedules", "/schedules/", DESKTOP, "light"),
    ("map", "/allocations/-/map/", DESKTOP, "light"),
    ("script", "/services/mailer/-/scripts/send-mail/", DESKTOP, "light"),
    ("events", "/events/", DESKTOP, "light"),
    ("locks", "/transactions/locks/", DESKTOP, "light"),
    ("transactions", "/transactions/history/", DESKTOP, "light"),
    ("transaction", "/transactions/1/", DESKTOP, "light"),
    ("documents", "/documents/accounts/ada/", DESKTOP, "dark"),
    ("system", "/system/", DESKTOP, "light"),
    ("api", "/api/v1/docs", DESKTOP, "light"),
]


SETTLED = 13  # failed jobs: the demo's last chapter has then been told
PATIENCE_MS = 180_000  # a busy machine is no reason to fail
SHOWN_BY = {"api": ".opblock-tag"}  # pages that draw themselves


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), ATRIBUTO_WORKERS="2")
        try:
            site.start()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium.find(), args=["--no-sandbox"]
                )
                _take_all(browser, site)
                site.close()
                _take_tutorial(browser, Path(folder) / "tutorial")
                browser.close()
        finally:
            site.close()


def _take_all(browser: Browser, site: Site) -> None:
    """After one log-in: each would stand in the list of events."""
    first = browser.new_context()
    page = first.new_page()
    _log_in(page, site)
    job = _settled(page, site)
    for name, path, size, theme in PICTURES:
        context = browser.new_context(
            viewport=size, color_scheme=theme, storage_state=first.storage_state()
        )
        _take(context.new_page(), name, site.address + path.format(job=job))
        context.close()


def _take_tutorial(browser: Browser, folder: Path) -> None:
    """Take the pictures of docs/tutorial.md while somebody does what it says."""
    folder.mkdir()
    reader = Tutorial(folder)
    page = browser.new_context(viewport=DESKTOP, color_scheme="light").new_page()
    try:
        reader.prepare()
        reader.walk(page, lambda name: _save(page, name))
    finally:
        reader.site.close()


def _take(page: Page, name: str, address: str) -> None:
    page.goto(address, wait_until="load")
    page.wait_for_selector(SHOWN_BY.get(name, "main"), timeout=PATIENCE_MS)
    _save(page, name)


def _save(page: Page, name: str) -> None:
    page.wait_for_timeout(500)  # fonts, charts
    page.screenshot(path=IMAGES / f"{name}.png")
    print(f"docs/images/{name}.png")


def _log_in(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/admin/login/?next={quote('/system/')}")
    page.fill("[name=username]", "admin")
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{site.address}/system/")


def _settled(page: Page, site: Site) -> str:
    """Wait until the demo has failed as it should; the job whose transfer was rolled back."""

    def has_failed() -> bool:
        page.goto(f"{site.address}/jobs/?state=failed")
        return page.locator("td .job-id").count() >= SETTLED

    wait_until(has_failed, 300)
    return page.locator("tr:has-text('Overdrawn') .job-id").inner_text()


if __name__ == "__main__":
    main()
