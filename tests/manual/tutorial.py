"""Do what docs/tutorial.md says, in a terminal and a browser, and stop where it has a picture."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, expect

from atributo_site.config.places import BASE_DIR
from atributo_site.manual.pages import page as page_of_docs
from tests.servers.site import PASSWORD, Site
from tests.servers.waiting import wait_until

FILE = re.compile(r"`(my-services/[\w./-]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
COMMANDS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
SCRIPT = "/services/shop/-/scripts/bill/"
Take = Callable[[str], None]
PATIENCE_MS = 60_000  # a busy machine is no reason to fail


class Tutorial:
    """The reader of the tutorial: a folder, a site that serves it, and a browser."""

    def __init__(self, folder: Path) -> None:
        text = page_of_docs("tutorial").text
        self.folder = folder
        self.files: dict[str, str] = dict(FILE.findall(text))
        self.commands: list[str] = COMMANDS.findall(text)
        roots = str(folder / "my-services")
        self.site = Site(folder / "site", ATRIBUTO_SERVICE_ROOTS=roots, ATRIBUTO_DEMO="no")

    def prepare(self) -> None:
        """Make the folder and the files, start the site, install the service."""
        self.run(self.commands[0])
        for name, content in self.files.items():
            (self.folder / name).write_text(content)
        self.site.start()
        self.run(self.commands[1])

    def run(self, commands: str) -> str:
        """Run the lines of a block as they stand there; each has to succeed."""
        path = f"{BASE_DIR / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-e", "-c", commands],
            cwd=self.folder,
            env=self.site.environ | {"PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def walk(self, page: Page, take: Take) -> None:
        expect.set_options(timeout=PATIENCE_MS)
        page.set_default_timeout(PATIENCE_MS)
        self._log_in(page)
        self._dry_run(page, take)
        self._first_jobs(page)
        self._failure(page, take)
        self._schedule(page, take)

    def _log_in(self, page: Page) -> None:
        page.goto(f"{self.site.address}/admin/login/?next={quote('/services/')}")
        page.fill("[name=username]", "admin")
        page.fill("[name=password]", PASSWORD)
        page.press("[name=password]", "Enter")
        page.get_by_role("link", name="/shop").first.click()
        page.get_by_role("link", name="Bill").first.click()

    def _fill(self, page: Page, product: str, count: int) -> None:
        page.goto(self.site.address + SCRIPT)
        page.get_by_label("Customer").fill("ada")
        page.get_by_label("Product").fill(product)
        page.get_by_role("spinbutton", name="Count").fill(str(count))

    def _dry_run(self, page: Page, take: Take) -> None:
        self._fill(page, "apple", 3)
        page.get_by_role("button", name="Dry run").click()
        expect(page.get_by_text("Nothing was changed or pushed.")).to_be_visible()
        expect(page.get_by_text("shop_bills").first).to_be_visible()
        take("tutorial-dry-run")

    def _first_jobs(self, page: Page) -> None:
        self._push(page, "apple", 3)
        self._open_newest(page, "complete")
        expect(page.get_by_text("ada owes 90 cents").first).to_be_visible()
        self.run(self.commands[2])
        self._open_newest(page, "complete")
        expect(page.get_by_text("ada owes 180 cents").first).to_be_visible()

    def _failure(self, page: Page, take: Take) -> None:
        self._push(page, "plum", 1)
        self._open_newest(page, "failed")
        expect(page.get_by_text("KeyError: 'plum'").first).to_be_visible()
        take("tutorial-failed")
        page.get_by_role("link", name=re.compile("Edit and push again")).first.click()
        page.get_by_label("Product").fill("pear")
        page.get_by_role("button", name="Push as a new job").click()
        self._open_newest(page, "complete")
        expect(page.get_by_text("ada owes 225 cents").first).to_be_visible()
        take("tutorial-mended")

    def _schedule(self, page: Page, take: Take) -> None:
        self.run(self.commands[3])
        page.goto(f"{self.site.address}/schedules/")
        expect(page.get_by_text("apples-for-ada").first).to_be_visible()
        take("tutorial-schedule")

    def _push(self, page: Page, product: str, count: int) -> None:
        self._fill(page, product, count)
        page.get_by_role("button", name="Push to queue").click()
        expect(page.get_by_text("Pushed to default.")).to_be_visible()

    def _open_newest(self, page: Page, state: str) -> None:
        """Open the newest job of the script as soon as it is in that state."""

        def is_there() -> bool:
            page.goto(f"{self.site.address}/jobs/?q={quote('script:/shop/bill')}")
            newest = page.locator("tr:has(.job-id)").first
            return newest.count() > 0 and state in newest.inner_text()

        wait_until(is_there, 120)
        page.locator("a.job-id").first.click()
