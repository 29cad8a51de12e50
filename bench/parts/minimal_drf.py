"""The peer: one Django REST framework view with a token, and nothing else (needs no Atributo)."""

import os
import sys

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],  # sets the length of the answer
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "rest_framework",
        "rest_framework.authtoken",
    ],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": os.environ["PEER_DATABASE"],
            "CONN_MAX_AGE": None,
        }
    },
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
    USE_TZ=True,
)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Me(APIView):
    def get(self, request):
        return Response({"user": request.user.get_username()})


urlpatterns = [path("me", Me.as_view()), path("healthz", lambda request: HttpResponse())]
application = get_wsgi_application()

if __name__ == "__main__" and sys.argv[1:] == ["prepare"]:
    from django.contrib.auth import get_user_model
    from rest_framework.authtoken.models import Token

    call_command("migrate", verbosity=0)
    print(Token.objects.create(user=get_user_model().objects.create_user("bench")).key)
