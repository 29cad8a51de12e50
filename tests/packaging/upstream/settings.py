"""A project with nothing but Atributo, in which Django's own tests run."""

import os

SECRET_KEY = "of tests"
USE_TZ = True
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": "tasks.sqlite3",
        "TEST": {"NAME": "tests.sqlite3"},  # a file: coroutines ask it from threads of their own
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
    }
}
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "atributo_site",
    "allocation",
    "queues",
    "pools",
    "knox",
    "django_htmx",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TASKS = {"default": {"BACKEND": "backends.WaitingBackend", "QUEUES": ["default", "queue_1"]}}
ATRIBUTO = {"ATRIBUTO_TASK_MODULES": ["tasks.tasks"], "REDIS_URL": os.environ["REDIS_URL"]}
