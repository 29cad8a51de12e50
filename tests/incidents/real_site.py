"""A site with a real curator, worker and name server, and a hand that cures what it reports."""

from django.db.models import Q
from playwright.sync_api import expect

import queues
from atributo_site.core.models import Lease
from atributo_site.curator.leadership import ROLE as CURATOR
from atributo_site.models import Incident
from queues.catalogue import set_target_age
from tests.browser.errands import Hand
from tests.servers.waiting import wait_until

PATIENCE = 120
QUICK = {"ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "4000", "ATRIBUTO_WORKER_LEASE_MS": "4000"}
ACT = {"mount": "/probe", "name": "act"}


class RealSite:
    """`spawn` starts processes on the test's database; the page is that of an administrator."""

    def __init__(self, spawn, page, nameserver, **environment):
        self._spawn, self.hand, self.nameserver = spawn, Hand(page), nameserver
        self.clicks = {}  # fault → how many until it was cured, or until its page was there
        networks = {"ATRIBUTO_DNS_SERVER_NETWORKS": "127.0.0.0/8:*"}
        self._environment = {**QUICK, **networks, **environment}
        self.start_curator()
        self.start_worker()

    def start_curator(self, **environment):
        self._curator = self._spawn("run_curator", env={**self._environment, **environment})
        wait_until(Lease.objects.held().filter(role=CURATOR).exists, PATIENCE)

    def stop_curator(self):
        self._curator.terminate()

    def kill_curator(self):
        self._curator.kill()

    def start_worker(self, *more):
        arguments = ("--name", "w1", "--instance", "grace", *more)
        self._worker = self._spawn("worker", *arguments, env=self._environment)
        wait_until(Lease.objects.held().filter(role="worker/w1").exists, PATIENCE)

    def kill_worker(self):
        self._worker.kill()

    def stop_worker(self):
        self._worker.terminate()

    def queue(self, name):
        """Make a queue whose jobs are late after a second."""
        made = queues.create(name)
        set_target_age(name, 1)
        return made

    def sees(self, kind, *words):
        """Wait until the page lists the incident in these words, and return its row there."""
        page = self.hand.page
        row = page.locator(
            f"#incidents tr:has(a[href='{self._stored(kind, words[0]).get_absolute_url()}'])"
        )

        def tells():
            page.goto("/incidents/")
            return row.count() == 1 and all(word in row.inner_text() for word in words)

        wait_until(tells, PATIENCE, f"{kind} does not say {words}")
        self.hand.clicks = 0
        return row

    def _stored(self, kind, word):
        says_it = Q(title__contains=word) | Q(detail__contains=word)
        rows = Incident.objects.unresolved().filter(says_it, kind=kind)
        wait_until(rows.exists, PATIENCE, f"nobody reports {kind}")
        return rows.get()

    def press(self, row, *then):
        """Unfold what the button does, press it, and whatever its pages ask for."""
        page = self.hand.page
        for target in (row.locator("summary"), row.locator("details .button:visible").last, *then):
            self.hand.clicks += 1
            (page.locator(target).first if isinstance(target, str) else target).click()

    def look(self, row, shown):
        """Follow the link of a row that has nothing safe to press, to the page that helps."""
        row.locator("td[data-label='What helps'] a").click()
        expect(self.hand.page.locator("main")).to_contain_text(shown)
        self.hand.clicks = 1

    def is_over(self, kind, fault=""):
        """Wait until the curator has resolved it by itself."""
        self.clicks[fault or kind] = self.hand.clicks
        rows = Incident.objects.unresolved().filter(kind=kind)
        wait_until(lambda: not rows.exists(), PATIENCE, f"{kind} does not end")
