import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")

django = get_wsgi_application()

from allocation import job_ids  # noqa: E402 – its models need the apps
from atributo_site.serving.one_port import OnePort  # noqa: E402

job_ids.wait_at_most(job_ids.WEB_PATIENCE_SECONDS)
application = OnePort(django)
