"""The fixtures that every test may use, by the module that explains them."""

from django.conf import settings as django_settings
from hypothesis import HealthCheck, settings

from queues.runs import doorbell
from tests.fixtures.browser import (
    browser,
    lent_browser,
    live_page,
    page_as,
    quiet_live_server,
    running_browser,
)
from tests.fixtures.databases import (
    database,
    django_db_setup,
    migrated_database,
    migrated_databases,
    process_environment,
)
from tests.fixtures.processes import spawn, worker_process
from tests.fixtures.rest import (
    bearer,
    rest_as,
    token_of,
    tokens_stay_known,
    unused_limits,
    web,
)
from tests.fixtures.scripts import (
    scripts_are_taken,
    scripts_see_this_database,
    scripts_start_quickly,
)
from tests.fixtures.servers import (
    clean_slate,
    dns_server,
    free_port,
    postgres,
    redis_connection,
    shared_redis,
    tcp_proxy,
    valkey,
)
from tests.fixtures.time import clock, wait_until
from tests.fixtures.users import client_as, person, user_as
from tests.fixtures.wire import hurry, wire

__all__ = [
    "bearer",
    "browser",
    "clean_slate",
    "client_as",
    "clock",
    "database",
    "django_db_setup",
    "dns_server",
    "free_port",
    "hurry",
    "migrated_database",
    "migrated_databases",
    "lent_browser",
    "live_page",
    "page_as",
    "person",
    "postgres",
    "process_environment",
    "quiet_live_server",
    "redis_connection",
    "rest_as",
    "running_browser",
    "shared_redis",
    "spawn",
    "tcp_proxy",
    "token_of",
    "tokens_stay_known",
    "unused_limits",
    "user_as",
    "valkey",
    "wait_until",
    "web",
    "wire",
    "scripts_are_taken",
    "scripts_see_this_database",
    "scripts_start_quickly",
    "worker_process",
]

# A slow machine is no finding: neither the time of an example nor that of making one counts.
settings.register_profile("soak", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "test", parent=settings.get_profile("soak"), derandomize=True, max_examples=50
)


def pytest_configure(config):
    """`make soak` looks for new examples; `make test` plays the same ones every time."""
    settings.load_profile("soak" if config.option.markexpr == "soak" else "test")
    django_settings.REDIS_TIMEOUT_SECONDS = 30  # nor does a slow one take Redis for away
    doorbell.ANSWER_SECONDS = 30
