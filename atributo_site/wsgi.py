"""The WSGI application, for servers that want one."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")

application = get_wsgi_application()

from allocation.job_ids import ids  # noqa: E402 – its models need the apps

ids.wait_at_most(ids.WEB_PATIENCE_SECONDS)
