"""The pictures of README and docs: `make screenshots` starts a demo site and takes them."""

import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from atributo_site.environment import BASE_DIR
from tests.servers import chromium
from tests.servers.site import PASSWORD, Site

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
    ("failures", "/jobs/failures/", DESKTOP, "dark"),
    ("schedules", "/schedules/", DESKTOP, "light"),
    ("map", "/allocations/-/map/", DESKTOP, "light"),
    ("script", "/services/mailer/-/scripts/send-mail/", DESKTOP, "light"),
    ("events", "/events/", DESKTOP, "light"),
    ("transactions", "/transactions/history/", DESKTOP, "light"),
    ("transaction", "/transactions/1/", DESKTOP, "light"),
    ("documents", "/documents/accounts/ada/", DESKTOP, "dark"),
    ("system", "/system/", DESKTOP, "light"),
    ("api", "/api/v1/docs", DESKTOP, "light"),
]


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder))
        try:
            site.start()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium.find(), args=["--no-sandbox"]
                )
                for picture in PICTURES:
                    _take(browser, site, *picture)
                browser.close()
        finally:
            site.close()


def _take(
    browser: Browser, site: Site, name: str, path: str, size: dict[str, int], theme: str
) -> None:
    context = browser.new_context(viewport=size, color_scheme=theme, device_scale_factor=1)
    page = context.new_page()
    _log_in(page, site, path)
    page.wait_for_load_state("load")
    page.wait_for_timeout(500)  # fonts, charts
    page.screenshot(path=IMAGES / f"{name}.png")
    print(f"docs/images/{name}.png")
    context.close()


def _log_in(page: Page, site: Site, path: str) -> None:
    page.goto(f"{site.address}/admin/login/?next={quote(path)}")
    page.fill("[name=username]", "admin")
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{site.address}{path}")


if __name__ == "__main__":
    main()
