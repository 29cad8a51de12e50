"""List every setting that an operator may change, and read them from the environment once.

The table below is the only list: Django's settings, `.env.example`, `doctor` and the settings
screen are made from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from atributo_site.config import validators
from atributo_site.config.embedded_redis import embedded_url
from atributo_site.config.places import SERVICES, state_folder
from atributo_site.config.variables import (
    BadEnvironment,
    listed,
    one_of,
    parse_all,
    variable,
    whole,
    words,
    yes_or_no,
)

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class Environment:
    is_hosted: ClassVar[bool] = False  # True inside somebody else's project

    mode: str = variable(
        "ATRIBUTO_ENV",
        "local",
        one_of("local", "production", "test"),
        "What this installation is: local (plain HTTP on this machine), production or test.",
    )
    badge: str = variable(
        "ATRIBUTO_BADGE", "", words, "Word shown in the top bar, for example staging."
    )
    command: str = variable(
        "ATRIBUTO_COMMAND",
        "",
        words,
        "What pages write before a command, such as atributo; empty: found out at the start.",
    )
    var_dir: str = variable(
        "ATRIBUTO_VAR_DIR",
        str(state_folder()),
        words,
        "Folder for all state of this installation.",
    )
    database_url: str = variable(
        "DATABASE_URL",
        "sqlite:///",
        validators.database_url,
        "SQLite in the state folder unless a postgresql:// URL is named.",
        secret=True,
    )
    redis_url: str = variable(
        "REDIS_URL",
        "embedded",
        validators.redis_url,
        "A Valkey of our own on a Unix socket unless a redis:// URL is named.",
        secret=True,
    )
    secret_key: str = variable(
        "ATRIBUTO_SECRET_KEY",
        "",
        words,
        "Signs sessions; made once in the state folder unless given. Production needs its own.",
        secret=True,
    )
    old_secret_key: str = variable(
        "ATRIBUTO_OLD_SECRET_KEY",
        "",
        words,
        "The key before, while it is changed: sessions that it signed stay valid.",
        secret=True,
    )
    allowed_hosts: tuple[str, ...] = variable(
        "ATRIBUTO_ALLOWED_HOSTS",
        "localhost,127.0.0.1,[::1]",
        validators.hosts,
        "Host names that the site answers to.",
    )
    trusted_origins: tuple[str, ...] = variable(
        "ATRIBUTO_TRUSTED_ORIGINS",
        "",
        validators.origins,
        "Origins (https://…) whose forms are accepted, when a proxy changes the host.",
    )
    behind_proxy: bool = variable(
        "ATRIBUTO_BEHIND_PROXY",
        "no",
        yes_or_no,
        "Whether a proxy in front ends TLS and sets X-Forwarded-Proto.",
    )
    proxies: tuple[str, ...] = variable(
        "ATRIBUTO_PROXIES",
        "127.0.0.1,::1",
        validators.proxies,
        "Proxies in front whose X-Forwarded-For is believed: who sends a request is its address.",
    )
    hsts_subdomains: bool = variable(
        "ATRIBUTO_HSTS_SUBDOMAINS",
        "no",
        yes_or_no,
        "Whether browsers are told in production that all hosts below this one speak https too.",
    )
    idle_minutes: int = variable(
        "ATRIBUTO_IDLE_MINUTES",
        "60",
        whole(1, 720),
        "After how long without a request a browser is logged out.",
    )
    host: str = variable("ATRIBUTO_HOST", "127.0.0.1", words, "Address the web server listens on.")
    port: int = variable(
        "ATRIBUTO_PORT", "8000", whole(1, 65535), "Port the web server listens on."
    )
    web_threads: int = variable(
        "ATRIBUTO_WEB_THREADS", "16", whole(1, 200), "Requests answered at the same time."
    )
    workers: int = variable(
        "ATRIBUTO_WORKERS", "2", whole(0, 64), "Worker processes that `up` starts."
    )
    worker_instances: tuple[str, ...] = variable(
        "ATRIBUTO_WORKER_INSTANCES",
        "",
        listed,
        "Instances that the workers of `up` serve, one each and in turn; none unless given.",
    )
    worker_queues: tuple[str, ...] = variable(
        "ATRIBUTO_WORKER_QUEUES",
        "",
        validators.queue_patterns,
        "Queues that workers serve, as `atributo worker` takes them: critical:3,mail-*; or all.",
    )
    worker_exclude: tuple[str, ...] = variable(
        "ATRIBUTO_WORKER_EXCLUDE",
        "",
        validators.excluded_queues,
        "Queues that workers leave to others, names or patterns.",
    )
    worker_concurrency: int = variable(
        "ATRIBUTO_WORKER_CONCURRENCY",
        "1",
        whole(1, 256),
        "Processes in which a worker runs jobs at the same time.",
    )
    task_modules: tuple[str, ...] = variable(
        "ATRIBUTO_TASK_MODULES",
        "",
        validators.modules,
        "Modules whose functions can be pushed, beside `tasks` of each installed app.",
    )
    task_secret_key: bool = variable(
        "ATRIBUTO_TASK_SECRET_KEY",
        "no",
        yes_or_no,
        "Whether jobs keep the secret key: functions may sign with it, and scripts can read it.",
    )
    admin_user: str = variable(
        "ATRIBUTO_ADMIN_USER", "admin", words, "Name of the first administrator."
    )
    admin_password: str = variable(
        "ATRIBUTO_ADMIN_PASSWORD",
        "",
        words,
        "Password of the first administrator; a random one is printed once unless given.",
        secret=True,
    )
    demo: bool = variable(
        "ATRIBUTO_DEMO",
        "yes",
        yes_or_no,
        "Whether the first start makes demo content.",
    )
    log_level: str = variable(
        "ATRIBUTO_LOG_LEVEL",
        "INFO",
        one_of("DEBUG", "INFO", "WARNING", "ERROR"),
        "Least severe log lines that are written.",
    )
    metrics_open: bool = variable(
        "ATRIBUTO_METRICS_OPEN", "no", yes_or_no, "Whether /metrics answers without a token."
    )
    body_bytes: int = variable(
        "ATRIBUTO_BODY_BYTES",
        "1048576",
        whole(1024, 64 * 1024 * 1024),
        "Largest request body in bytes.",
    )
    requests_per_minute: int = variable(
        "ATRIBUTO_REQUESTS_PER_MINUTE",
        "6000",
        whole(1, 1_000_000),
        "REST requests per user and minute before 429.",
    )
    streams: int = variable(
        "ATRIBUTO_STREAMS",
        "1000",
        whole(1, 100_000),
        "Event streams that one web process keeps open before 503.",
    )
    streams_per_user: int = variable(
        "ATRIBUTO_STREAMS_PER_USER",
        "20",
        whole(1, 100_000),
        "Event streams that one user may have open before 429.",
    )
    token_days: int = variable(
        "ATRIBUTO_TOKEN_DAYS", "90", whole(1, 3650), "Longest life of a REST token in days."
    )
    statement_timeout_ms: int = variable(
        "ATRIBUTO_STATEMENT_TIMEOUT_MS",
        "30000",
        whole(100, DAY_MS),
        "Longest statement on PostgreSQL in milliseconds.",
    )
    least_free_mb: int = variable(
        "ATRIBUTO_LEAST_FREE_MB",
        "200",
        whole(0, 100_000_000),
        "Free space of the state folder's disk below which there is an incident, in megabytes.",
    )
    busy_timeout_ms: int = variable(
        "ATRIBUTO_BUSY_TIMEOUT_MS",
        "10000",
        whole(100, 600_000),
        "How long a call waits for a busy database, all tries together, in milliseconds.",
    )
    push_timeout_ms: int = variable(
        "ATRIBUTO_PUSH_TIMEOUT_MS",
        "1500",
        whole(100, 600_000),
        "How long a push waits for a busy database before it is refused, in milliseconds.",
    )
    strategy: str = variable(
        "ATRIBUTO_STRATEGY",
        "md5-modulo",
        one_of("md5-modulo", "rendezvous", "least-loaded"),
        "How an instance is chosen for a key that has none.",
    )
    worker_id: str = variable(
        "ATRIBUTO_WORKER_ID",
        "auto",
        validators.worker_number,
        "Number of this process in job ids; auto leases a free one.",
    )
    cluster_size: int = variable(
        "ATRIBUTO_CLUSTER_SIZE",
        "100",
        validators.cluster_size,
        "How many numbers the cluster has for job ids: 10, 100 or 1000.",
    )
    id_lead_ms: int = variable(
        "ATRIBUTO_ID_LEAD_MS",
        "1000",
        whole(1, 60_000),
        "How far a single job id may run ahead of the clock, in milliseconds.",
    )
    curator_heartbeat_interval_ms: int = variable(
        "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS",
        "500",
        whole(50, DAY_MS),
        "Pause between two heartbeats of the active curator, in milliseconds.",
    )
    curator_heartbeat_timeout_ms: int = variable(
        "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS",
        "7500",
        whole(100, DAY_MS),
        "Silence after which another curator takes over, in milliseconds.",
    )
    curator_inactivity_delay_ms: int = variable(
        "ATRIBUTO_CURATOR_INACTIVITY_DELAY_MS",
        "3000",
        whole(50, DAY_MS),
        "Pause of a curator that lost its role before it competes again, in milliseconds.",
    )
    max_job_time_ms: int = variable(
        "ATRIBUTO_MAX_JOB_TIME_MS",
        "5000",
        whole(100, DAY_MS),
        "Life of a transaction that is not renewed, in milliseconds.",
    )
    additional_timeout_wait_ms: int = variable(
        "ATRIBUTO_ADDITIONAL_TIMEOUT_WAIT_MS",
        "1000",
        whole(0, DAY_MS),
        "Grace beyond the life of a transaction before the curator rolls it back, in milliseconds.",
    )
    max_job_limit_ms: int = variable(
        "ATRIBUTO_MAX_JOB_LIMIT_MS",
        "60000",
        whole(100, DAY_MS),
        "Longest life of a transaction however often it is renewed, in milliseconds.",
    )
    lock_delay_ms: int = variable(
        "ATRIBUTO_LOCK_DELAY_MS",
        "0",
        whole(0, DAY_MS),
        "How long a key stays locked after its dead holder was rolled back, in milliseconds.",
    )
    transaction_retention_days: int = variable(
        "ATRIBUTO_TRANSACTION_RETENTION_DAYS",
        "30",
        whole(0, 36500),
        "Days that finished transactions and their journals are kept.",
    )
    version_retention_days: int = variable(
        "ATRIBUTO_VERSION_RETENTION_DAYS",
        "90",
        whole(0, 36500),
        "Days that old versions of documents are kept; the newest one is never deleted.",
    )
    worker_heartbeat_ms: int = variable(
        "ATRIBUTO_WORKER_HEARTBEAT_MS",
        "1000",
        whole(50, DAY_MS),
        "Pause between two heartbeats of a worker, in milliseconds.",
    )
    worker_lease_ms: int = variable(
        "ATRIBUTO_WORKER_LEASE_MS",
        "4000",
        whole(100, DAY_MS),
        "Silence after which a worker counts as dead, in milliseconds.",
    )
    dns_servers: tuple[str, ...] = variable(
        "ATRIBUTO_DNS_SERVERS",
        "",
        validators.nameservers,
        "Nameservers for names that have none of their own; the system's unless given.",
    )
    dns_server_networks: tuple[str, ...] = variable(
        "ATRIBUTO_DNS_SERVER_NETWORKS",
        "",
        validators.networks,
        "Networks whose nameservers may be asked besides, each with :PORT, :* or port 53.",
    )
    dns_target_networks: tuple[str, ...] = variable(
        "ATRIBUTO_DNS_TARGET_NETWORKS",
        "",
        validators.networks,
        "Networks that DNS may bring in although they are of this machine or its link.",
    )
    dns_ttl_floor_ms: int = variable(
        "ATRIBUTO_DNS_TTL_FLOOR_MS",
        "5000",
        whole(1000, DAY_MS),
        "Shortest pause between two lookups of a name, whatever its TTL, in milliseconds.",
    )
    dns_ttl_ceiling_ms: int = variable(
        "ATRIBUTO_DNS_TTL_CEILING_MS",
        "3600000",
        whole(1000, DAY_MS),
        "Longest time that an answer of DNS is believed, in milliseconds.",
    )
    worker_memory_mb: int = variable(
        "ATRIBUTO_WORKER_MEMORY_MB",
        "512",
        whole(16, 1_000_000),
        "Memory that the scripts of one worker may use, in megabytes.",
    )
    script_timeout_ms: int = variable(
        "ATRIBUTO_SCRIPT_TIMEOUT_MS",
        "60000",
        whole(10, DAY_MS),
        "Longest run of a script that is run at once, in milliseconds.",
    )
    script_env: tuple[str, ...] = variable(
        "ATRIBUTO_SCRIPT_ENV",
        "",
        listed,
        "Names of variables that scripts see besides PATH, HOME and the like, with commas.",
    )
    service_roots: tuple[str, ...] = variable(
        "ATRIBUTO_SERVICE_ROOTS",
        str(SERVICES),
        listed,
        "Folders below which services may be installed from, separated by commas.",
    )
    event_retention_days: int = variable(
        "ATRIBUTO_EVENT_RETENTION_DAYS", "90", whole(1, 36500), "Days that events are kept."
    )

    @property
    def redis_address(self) -> str:
        """Return the URL of Redis: that of our own server unless one is named."""
        is_ours = self.redis_url == "embedded"
        return embedded_url(Path(self.var_dir).absolute()) if is_ours else self.redis_url


def read(environ: Mapping[str, str]) -> Environment:
    """Parse all variables; put every refusal into one error."""
    values, refusals = parse_all(Environment, environ)
    if refusals:
        raise BadEnvironment("\n".join(refusals))
    return Environment(**values)
