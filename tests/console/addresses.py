"""Every address that a person can look at: screens, raw lists, filtered, searched, later pages."""

from django.contrib import admin
from django.urls import reverse

from allocation.models import Instance
from queues.models import Run
from tests.console.full_site import screens
from tests.console.many_rows import FIRST_JOB, FULLEST

LATER_JOB = FIRST_JOB + 1_000
VARIANTS = [
    "/?range=24h",
    "/?range=7d",
    "/?range=90d",
    "/jobs/?state=waiting",
    "/jobs/?state=delayed",
    "/jobs/?state=paused",
    "/jobs/?q=queue:default&state=paused",
    "/jobs/?state=running",
    "/jobs/?state=complete",
    "/jobs/?state=failed",
    "/jobs/?state=aborted",
    "/jobs/?state=failed&since=1h",
    "/jobs/?since=7d",
    "/jobs/?since=30d&until=1h",
    "/jobs/?state=complete&since=20d&until=19d",
    "/jobs/?state=complete&since=2000-01-01&until=2000-01-02",
    "/jobs/?fingerprint=error-7",
    "/jobs/?fingerprint=error-7&state=complete",
    "/jobs/?fingerprint=nowhere",
    "/jobs/?q=queue:default",
    "/jobs/?q=queue:default&state=failed",
    "/jobs/?q=queue:default&state=aborted",
    "/jobs/?q=queue:queue-1",
    "/jobs/?q=error:nowhere",
    "/jobs/?q=nowhere",
    "/jobs/?q=nowhere&state=complete&since=7d",
    "/jobs/?q=id:123",
    "/jobs/?q=sticky:nowhere",
    f"/jobs/?q=instance:{FULLEST}",
    f"/jobs/?q=instance:{FULLEST}&state=waiting",
    "/jobs/?q=instance:nowhere&state=waiting",
    "/jobs/?q=instance:nowhere&state=running",
    "/jobs/?q=instance:nowhere&state=failed",
    "/jobs/?q=by:nobody",
    "/jobs/?q=script:send-mail",
    "/jobs/?q=script:/mailer/send-mail",
    "/jobs/?q=script:/mailer/send-mail&state=failed",
    "/jobs/?q=script:/mailer/nothing",
    "/jobs/?q=script:/mailer/nothing&state=complete",
    "/jobs/?q=data.to:nobody",
    "/jobs/?q=data.to:bench",
    f"/jobs/?after={LATER_JOB}",
    f"/jobs/?before={LATER_JOB}",
    f"/jobs/?state=complete&after={LATER_JOB}",
    f"/jobs/?state=complete&before={LATER_JOB}",
    f"/jobs/?state=waiting&before={LATER_JOB}",
    f"/jobs/?upto={LATER_JOB}",
    "/jobs/failures/?queue=default",
    "/jobs/failures/?since=7d&until=1h",
    "/schedules/?after=1",
    "/schedules/?queue=default",
    "/schedules/?queue=bench&paused=no",
    "/schedules/?script=/mailer/send-mail",
    "/schedules/?script=send-mail&paused=yes",
    "/schedules/?queue=nowhere",
    "/queues/default/",
    "/queues/default/?range=24h",
    "/queues/default/?range=7d",
    "/queues/default/?range=90d",
    "/queues/?after=a",
    "/instances/?state=available",
    "/instances/?state=available&prefix=many",
    "/instances/?state=unavailable",
    "/instances/?state=draining",
    "/instances/?state=drained",
    "/instances/?state=dead",
    "/instances/?prefix=nowhere",
    "/instances/?after=many-5",
    "/instances/?before=many-5",
    "/allocations/?instance=many-7",
    f"/allocations/?instance={FULLEST}",
    f"/allocations/?instance={FULLEST}&after=many-5",
    f"/allocations/?instance={FULLEST}&prefix=many-99",
    f"/allocations/?instance={FULLEST}&prefix=nowhere",
    "/allocations/?prefix=many-99",
    "/allocations/?after=many-5",
    "/allocations/?before=many-5",
    "/allocations/-/map/?add=10",
    "/allocations/-/map/?remove=many-7",
    "/job-ids/?id=26111603463755600",
    "/events/?kind=many.happened",
    "/events/?kind=nothing.happened",
    "/events/?kind=many.else&actor=many",
    "/events/?kind=many.happened&actor=bench",
    "/events/?actor=many",
    "/events/?actor=nobody",
    "/events/?by=people",
    "/events/?by=people&after=900",
    "/events/?by=people&before=900",
    "/events/?by=people&kind=many.happened",
    "/events/?by=people&until=29d",
    "/instances/?state=draining&prefix=many",
    f"/events/?subject=instance:{FULLEST}",
    f"/events/?subject=instance:{FULLEST}&kind=nothing.happened",
    f"/events/?subject=instance:{FULLEST}&kind=many.happened",
    "/events/?kind=many.happened&subject=nothing:1",
    "/events/?since=1h",
    "/events/?since=20d&until=19d",
    "/events/?since=2000-01-01&until=2000-01-02",
    "/events/?since=1h&kind=many.else",
    "/events/?until=29d",
    "/events/?until=29d&kind=many.else",
    "/events/?until=29d&actor=bench",
    "/events/?after=900",
    "/events/?before=900",
    "/search/?q=many-7",
    "/search/?q=nowhere",
    f"/search/?q={FIRST_JOB}",
    "/documents/?after=a",
    "/documents/bench/?q=*",
    "/documents/bench/?after=1",
    "/documents/bench/other/",
    "/transactions/?owner=nobody",
    "/transactions/locks/?collection=bench",
    "/transactions/locks/?key=nowhere",
    "/transactions/history/?status=rolled_back",
    "/transactions/history/?status=completed",
    "/transactions/history/?since=1h",
    "/transactions/history/?since=20d&until=19d",
    "/transactions/history/?since=20d&status=rolled_back",
    "/transactions/history/?after=900",
    "/transactions/curators/?after=900",
    "/pools/?after=0",
    "/pools/backends/?state=gone",
    "/pools/backends/?after=0",
    "/pools/timeline/?pool=bench",
    "/pools/timeline/?pool=many-1",
    "/pools/timeline/?after=900",
    "/pools/timeline/?kind=failed",
    "/pools/timeline/?kind=added&pool=bench",
    "/pools/timeline/?since=1h",
    "/pools/timeline/?since=20d&until=19d",
    "/pools/timeline/?until=29d&kind=stale",
    "/system/operations/?after=900",
    "/incidents/?severity=error",
    "/incidents/?since=7d",
    "/incidents/?severity=warning&since=20d&until=19d",
    "/admin/",
    "/admin/queues/",
]
SEARCHES = {  # of a raw list, and what its filters offer
    "allocation_event": ["?q=many.happened", f"?q=instance:{FULLEST}", "?q=nothing"],
    "allocation_allocation": ["?q=many-7", "?after=many-5"],
    "allocation_pastallocation": ["?q=many-7"],
    "allocation_instance": ["?q=many-7", "?after=many-5"],
    "queues_queuedjob": [
        f"?q={FIRST_JOB}",
        "?q=nothing",
        "?state=waiting",
        "?state=running",
        "?state=complete",
        "?state=failed",
        f"?state=failed&after={FIRST_JOB + 2_000}",
        f"?after={LATER_JOB}",
        f"?before={LATER_JOB}",
    ],
    "queues_run": ["?after=900", "?before=900"],
    "queues_queue": ["?q=queue"],
    "queues_operation": ["?state__exact=waiting", "?state__exact=complete"],
    "allocation_document": ["?q=many-7", "?q=bench", "?after=900"],
    "allocation_documentversion": ["?after=900"],
    "allocation_transaction": ["?status__exact=rolled_back", "?status__exact=completed"],
    "auth_user": ["?q=nobody"],
    "pools_backend": ["?q=many-7", "?state__exact=gone", "?administrative__exact=drain"],
    "pools_backendchange": ["?q=many-7", "?q=bench", "?kind__exact=failed", "?kind__exact=added"],
    "pools_pool": ["?q=many-1", "?state__exact=failed"],
}


def addresses(text):
    """Return all addresses by name; they exist with few and with many rows."""
    shown = {**screens(text), **{path: path for path in VARIANTS}}
    return {**shown, **largest(), **raw_lists()}


def largest():
    """Return the pages of the objects that have the most rows below them."""
    full = Instance.objects.filter(pk=FULLEST).exists()
    instance, key = (FULLEST, "many-2") if full else ("web-2", "job1")
    often = Run.objects.order_by("-attempt").first().job_id
    return {
        "fullest instance": f"/instances/{instance}/",
        "fullest instance, plan": f"/instances/{instance}/?plan=&moves_per_minute=60",
        "fullest instance, remove": f"/instances/{instance}/remove",
        "one of its jobs": f"/allocations/{key}/",
        "job of many attempts": f"/jobs/{often}/",
        "job of many attempts, log": f"/jobs/{often}/log",
        "job of many attempts, delete": f"/jobs/{often}/delete",
        "job of many attempts, edit": f"/jobs/{often}/edit/",
    }


def raw_lists():
    """Return each raw list, filtered and searched, and the page of one of its rows."""
    found = {}
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        path = reverse(f"admin:{name}_changelist")
        first = model._default_manager.order_by("pk").first()
        found |= {f"{path}{asked}": f"{path}{asked}" for asked in ("", *SEARCHES.get(name, []))}
        if first is not None:
            found[f"a row of {path}"] = reverse(f"admin:{name}_change", args=[first.pk])
    return found
