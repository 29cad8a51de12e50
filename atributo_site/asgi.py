"""The ASGI application: one port for pages, REST and the event stream."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")

django = get_wsgi_application()

from allocation.job_ids import ids  # noqa: E402 – its models need the apps
from atributo_site.serving.one_port import OnePort  # noqa: E402

ids.wait_at_most(ids.WEB_PATIENCE_SECONDS)
application = OnePort(django)
