import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")

django = get_wsgi_application()

from atributo_site.serving.one_port import OnePort  # noqa: E402 – its models need the apps

application = OnePort(django)
