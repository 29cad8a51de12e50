"""Programs inside the project of third_party: `push` a job, then `look` at what people see."""

import logging
import sys

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

import queues  # noqa: E402
from queues.models import QueuedJob  # noqa: E402

PAGES = ("/", "/admin/", "/admin/pages/", "/admin/users/", "/django-admin/", "/search/")
SCREENS = ("/ops/", "/ops/jobs/", "/ops/queues/mail/", "/django-admin/queues/queuedjob/")


def push() -> None:
    call_command("service", "install", "multiplier", "/multiplier")
    queues.create("mail").push({"mount": "/multiplier", "name": "multiply"}, [6, 7])


def look() -> None:
    logging.disable(logging.CRITICAL)
    settings.ALLOWED_HOSTS = ["testserver"]
    get_user_model().objects.create_superuser("ann", "ann@example.org", "secret-of-ann")
    visitor, ann = Client(), Client()
    assert visitor.get("/ops/").status_code == 302
    sent = ann.post("/admin/login/", {"username": "ann", "password": "secret-of-ann"})
    assert sent.status_code == 302, "the log-in of Wagtail"
    answers = {path: ann.get(path, follow=True).status_code for path in (*PAGES, *SCREENS)}
    assert set(answers.values()) == {200}, answers
    assert b"wagtail" in ann.get("/admin/").content.lower()
    assert QueuedJob.objects.get().result == 42
    print("everything was seen")


if __name__ == "__main__":
    {"push": push, "look": look}[sys.argv[1]]()
