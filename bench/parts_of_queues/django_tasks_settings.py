"""The smallest Django that runs django-tasks."""

import os
from urllib.parse import parse_qs, urlsplit

url = urlsplit(os.environ["POSTGRES"])
SECRET_KEY = "bench"
USE_TZ = True
INSTALLED_APPS = ["django_tasks", "django_tasks_db"]
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": url.path.lstrip("/"),
        "USER": url.username,
        "HOST": parse_qs(url.query)["host"][0],
        "CONN_MAX_AGE": None,
    }
}
