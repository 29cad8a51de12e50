"""What people of the project see afterwards; prints an answer for each question as JSON."""

import io
import json
import logging
import sys

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.contrib.auth.models import Group  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.management.base import SystemCheckError  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from atributo_site.core.models import Event  # noqa: E402
from members.tasks import shout  # noqa: E402
from queues.models import QueuedJob  # noqa: E402

logging.disable(logging.CRITICAL)
settings.ALLOWED_HOSTS = ["testserver"]
members = get_user_model().objects
operator = members.create_user("olga", password="secret")
operator.groups.add(Group.objects.get(name="atributo operator"))
members.create_user("joe", password="secret")
job = QueuedJob.objects.get(pk=sys.argv[1])
found = {"status": job.status, "names": [reverse("jobs"), reverse("atributo:jobs")]}


def as_user(name):
    browser = Client()
    sent = browser.post("/enter/?next=/ops/", {"username": name, "password": "secret"})
    assert sent.status_code == 302 and sent.url == "/ops/", sent
    return browser


stranger, root, olga, joe = Client(), as_user("root"), as_user("olga"), as_user("joe")
found["functions"] = [
    QueuedJob.objects.get(script="greet").result,
    shout.get_result(sys.argv[2]).return_value,
]
multiplied = QueuedJob.objects.filter(script="multiply")
found["multiplied"] = sorted(str(pk) for pk in multiplied.values_list("pk", flat=True))
found["greeting"] = "Good morning" in stranger.get("/enter/").content.decode()
found["log-in"] = stranger.get("/ops/jobs/").url
found["own pages"] = [stranger.get(path).content.decode()[:30] for path in ("/", "/admin/login/")]
found["screens"] = {
    path: root.get(path).status_code
    for path in (
        "/ops/",
        f"/ops/jobs/{job.pk}/",
        "/ops/services/py:members.tasks/",
        "/ops/queues/mail/",
        "/ops/instances/web-1/",
        "/ops/documents/",
        "/ops/system/",
        "/ops/system/settings/",
        "/ops/api/v1/schema",
        "/ops/api/v1/docs",
        "/ops/healthz",
        "/admin/",
        "/admin/members/member/",
        "/admin/auth/group/",
        "/admin/queues/queuedjob/",
        "/admin/allocation/event/",
    )
}
found["roles"] = [olga.get("/ops/").status_code, joe.get("/ops/").status_code]
found["paused"] = olga.post("/ops/queues/mail/pause").status_code
event = Event.objects.filter(kind="queue.paused", actor="olga").get()
found["event"] = [event.actor, event.channel]
found["rest"] = root.get(f"/ops/api/v1/jobs/{job.pk}").json()["result"]
found["problem"] = stranger.get("/ops/api/v1/jobs")["Content-Type"]
level = {"name": "a program", "level": "view", "days": 1}
token = root.post("/ops/api/v1/tokens", level, content_type="application/json")
found["token"] = token.status_code  # it is gone at the end: knox cannot go to zero with one
page = root.get("/ops/").content.decode()
found["frame"] = ['data-stream="/ops/events/stream"' in page, "The shop" in page]
out = io.StringIO()
try:
    call_command("check", "--deploy", "--database", "default", stdout=out, stderr=out)
except SystemCheckError as error:  # since Django 6.1 a new project's own mails are one
    out.write(str(error))
found["check"] = out.getvalue()
call_command("makemigrations", "--check", "--dry-run", stdout=out)
for app in ("atributo_site", "queues", "pools", "allocation", "knox"):
    call_command("migrate", app, "zero", verbosity=0)
found["tables"] = sorted(connection.introspection.table_names())
found["groups"] = [group.name for group in Group.objects.all()]
print(json.dumps(found))
