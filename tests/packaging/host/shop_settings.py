"""The end of the project's settings: its own things first, then the lines for Atributo."""

INSTALLED_APPS += ["members"]  # noqa: F821
AUTH_USER_MODEL = "members.Member"
TEMPLATES[0]["DIRS"] = [BASE_DIR / "templates"]  # noqa: F821
LOGIN_URL = "login"

INSTALLED_APPS += ["atributo_site", "allocation", "queues", "pools", "knox", "django_htmx"]  # noqa: F821
TASKS = {"default": {"BACKEND": "queues.tasks.AtributoBackend"}}
