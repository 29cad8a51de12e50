"""A site with a real curator, worker and name server, and a hand that cures what it reports."""

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

    def __init__(self, spawn, page, nameserver):
        self._spawn, self.hand, self.nameserver = spawn, Hand(page), nameserver
        self.clicks = {}  # kind → how many until it was cured, or until its page was there
        self._environment = {**QUICK, "ATRIBUTO_DNS_SERVER_NETWORKS": "127.0.0.0/8:*"}
        self.start_curator()
        self.start_worker()

    def start_curator(self):
        self._curator = self._spawn("run_curator", env=self._environment)
        wait_until(Lease.objects.held().filter(role=CURATOR).exists, PATIENCE)

    def kill_curator(self):
        self._curator.kill()

    def start_worker(self):
        arguments = ("--name", "w1", "--instance", "grace")
        self._worker = self._spawn("worker", *arguments, env=self._environment)
        wait_until(Lease.objects.held().filter(role="worker/w1").exists, PATIENCE)

    def kill_worker(self):
        self._worker.kill()

    def queue(self, name):
        """Make a queue whose jobs are late after a second."""
        made = queues.create(name)
        set_target_age(name, 1)
        return made

    def sees(self, kind, *words):
        """Wait until the page lists the incident, and return its row there."""
        page = self.hand.page
        row = page.locator(f"#incidents tr:has(a[href='{self._stored(kind).get_absolute_url()}'])")
        page.goto("/incidents/")
        for word in words:
            assert word in row.inner_text()
        self.hand.clicks = 0
        return row

    def _stored(self, kind):
        rows = Incident.objects.unresolved().filter(kind=kind)
        wait_until(rows.exists, PATIENCE, f"nobody reports {kind}")
        return rows.get()

    def press(self, row, *then):
        """Unfold what the button does, press it, and whatever its pages ask for."""
        page = self.hand.page
        for target in (row.locator("summary"), row.locator("details .button:visible").last, *then):
            self.hand.clicks += 1
            (page.locator(target).first if isinstance(target, str) else target).click()

    def is_over(self, kind):
        """Wait until the curator has resolved it by itself."""
        self.clicks[kind] = self.hand.clicks
        rows = Incident.objects.unresolved().filter(kind=kind)
        wait_until(lambda: not rows.exists(), PATIENCE, f"{kind} does not end")
