"""Django's settings. What an operator may change is in config/environment.py, not here."""

import os
import sys
from pathlib import Path

from atributo_site.config import databases, logs, state_folder
from atributo_site.config.conflicts import clashes
from atributo_site.config.env_file import with_env_file
from atributo_site.config.environment import BadEnvironment, read
from atributo_site.config.installed_apps import installed_apps
from atributo_site.config.openapi_document import DOCUMENT
from atributo_site.config.places import BASE_DIR, TEMPLATE_TAGS, env_file, program
from atributo_site.config.places import TEMPLATES as OWN_TEMPLATES

ATRIBUTO = read(with_env_file(os.environ, env_file()))
if _clashes := clashes(ATRIBUTO):
    raise BadEnvironment("\n".join(_clashes))

ATRIBUTO_PROGRAM = program(ATRIBUTO.command, os.environ, BASE_DIR, sys.executable)
PRODUCTION = ATRIBUTO.mode == "production"
VAR_DIR = state_folder.made(Path(ATRIBUTO.var_dir).absolute())

DEBUG = False
SECRET_KEY = ATRIBUTO.secret_key or state_folder.kept_in(VAR_DIR)
SECRET_KEY_FALLBACKS = [ATRIBUTO.old_secret_key] if ATRIBUTO.old_secret_key else []
ALLOWED_HOSTS = list(ATRIBUTO.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ATRIBUTO.trusted_origins)
ROOT_URLCONF = "atributo_site.site_urls"
WSGI_APPLICATION = "atributo_site.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

ALL_APPS = [
    "atributo_site.apps.SiteConfig",
    "allocation",
    "queues",
    "pools",
    "atributo_site.web.admin_app.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_htmx",
    "django_rq",
    "axes",
    "csp",
]
INSTALLED_APPS = installed_apps(ALL_APPS, sys.argv)

MIDDLEWARE = [
    "atributo_site.web.middleware.RequestIdMiddleware",
    "atributo_site.web.token_requests.TokenRequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "atributo_site.web.middleware.BodyLimitMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "atributo_site.web.middleware.HostMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "atributo_site.web.middleware.IdleMiddleware",
    "atributo_site.web.middleware.ActorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "atributo_site.web.middleware.PrivatePagesMiddleware",
    "atributo_site.web.middleware.BusyDatabaseMiddleware",
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [OWN_TEMPLATES],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "atributo_site.console.base.navigation.frame",
            ],
            "libraries": TEMPLATE_TAGS,
        },
    }
]

DATABASES = {"default": databases.configured(ATRIBUTO, VAR_DIR)}
REDIS_URL = ATRIBUTO.redis_address
RQ_CONNECTION = {
    "URL": REDIS_URL,
    "REDIS_CLIENT_KWARGS": {"socket_timeout": None, "socket_connect_timeout": 2, "retry": None},
}
RQ_QUEUES = {
    "default": RQ_CONNECTION,  # for users of django-rq in this project; we do not use it
    "atributo-bells": {**RQ_CONNECTION, "SERIALIZER": "rq.serializers.JSONSerializer"},
}
RQ_SHOW_ADMIN_LINK = False
SCRIPT_PROCESS_BEGINS = ["atributo_site.supervisor.script_process.report_those_of_scripts"]

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = ["atributo_site.formats"]

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
WHITENOISE_MAX_AGE = 3600
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if ATRIBUTO.mode == "test"
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
# Tests make many servers, each of which would look at all static files when it starts.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = ATRIBUTO.mode == "test"

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "atributo:overview"
AXES_FAILURE_LIMIT = 20
AXES_COOLOFF_TIME = 1  # hours
AXES_CLIENT_IP_CALLABLE = "atributo_site.rest.client_address.own_address"
AXES_LOCKOUT_PARAMETERS = "atributo_site.rest.client_address.limited_by"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_WHITELIST_CALLABLE = "atributo_site.web.login.may_try"
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_CALLABLE = "atributo_site.web.login.locked_out"
AXES_SENSITIVE_PARAMETERS = ["password", "token", "secret"]
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False

SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
IDLE_COOKIE_NAME = "seen"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "atributo_site.web.error_pages.csrf"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
DATA_UPLOAD_MAX_MEMORY_SIZE = ATRIBUTO.body_bytes
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
FILE_UPLOAD_MAX_MEMORY_SIZE = ATRIBUTO.body_bytes
if PRODUCTION:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-session", "__Host-csrf"
    IDLE_COOKIE_NAME = "__Host-seen"
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = ATRIBUTO.hsts_subdomains
    SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # other hosts may not speak https
if ATRIBUTO.behind_proxy:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "manifest-src": ["'self'"],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "atributo_site.rest.authentication.TokenAuthentication",
        "atributo_site.rest.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["atributo_site.rest.permission.ActionPermission"],
    "DEFAULT_PARSER_CLASSES": ["atributo_site.rest.strict_json.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "atributo_site.rest.lists.CursorPages",
    "DEFAULT_FILTER_BACKENDS": ["atributo_site.rest.lists.KnownFilters"],
    "DEFAULT_THROTTLE_CLASSES": ["atributo_site.rest.throttling.PerMinute"],
    "DEFAULT_SCHEMA_CLASS": "atributo_site.rest.operation.Operation",
    "EXCEPTION_HANDLER": "atributo_site.rest.problems.handle",
    "PAGE_SIZE": 50,
    "URL_FORMAT_OVERRIDE": None,
}
KNOX_TOKEN_MODEL = "knox.AuthToken"
REST_KNOX = {"TOKEN_LIMIT_PER_USER": 100, "AUTO_REFRESH": False}
SPECTACULAR_SETTINGS = {
    **DOCUMENT,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": None,
    "SERVE_PERMISSIONS": ["atributo_site.rest.permission.ActionPermission"],
}

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
LOGGING_CONFIG = None
logs.configure(ATRIBUTO.log_level)
