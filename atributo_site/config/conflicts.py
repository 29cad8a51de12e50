"""Find settings that are valid alone and cannot work together; each gets a sentence."""

from atributo_site.config.environment import Environment


def clashes(env: Environment) -> list[str]:
    return [*working_together(env), *_production(env)]


def working_together(env: Environment) -> list[str]:
    """Leave out what a project that we are installed in decides itself."""
    return [*_heartbeats(env), *_numbers(env), *_dns(env)]


def _heartbeats(env: Environment) -> list[str]:
    pairs = [
        (
            "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS",
            env.curator_heartbeat_interval_ms,
            "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS",
            env.curator_heartbeat_timeout_ms,
        ),
        (
            "ATRIBUTO_WORKER_HEARTBEAT_MS",
            env.worker_heartbeat_ms,
            "ATRIBUTO_WORKER_LEASE_MS",
            env.worker_lease_ms,
        ),
    ]
    return [
        f"{beat} ({beat_ms}) must be at most half of {lease} ({lease_ms}): "
        "one late heartbeat would end the lease."
        for beat, beat_ms, lease, lease_ms in pairs
        if beat_ms * 2 > lease_ms
    ]


def _numbers(env: Environment) -> list[str]:
    sentences = []
    if env.worker_id != "auto" and int(env.worker_id) >= env.cluster_size:
        sentences.append(
            f"ATRIBUTO_WORKER_ID must be between 0 and {env.cluster_size - 1} for "
            f"ATRIBUTO_CLUSTER_SIZE={env.cluster_size}, not {env.worker_id}."
        )
    processes = env.workers + 2
    if env.worker_id == "auto" and processes > env.cluster_size:
        sentences.append(
            f"ATRIBUTO_CLUSTER_SIZE ({env.cluster_size}) has fewer numbers than the {processes} "
            f"processes of ATRIBUTO_WORKERS={env.workers}: each needs one of its own."
        )
    return sentences


def _dns(env: Environment) -> list[str]:
    if env.dns_ttl_floor_ms <= env.dns_ttl_ceiling_ms:
        return []
    return [
        f"ATRIBUTO_DNS_TTL_FLOOR_MS ({env.dns_ttl_floor_ms}) must be at most "
        f"ATRIBUTO_DNS_TTL_CEILING_MS ({env.dns_ttl_ceiling_ms})."
    ]


def _production(env: Environment) -> list[str]:
    if env.mode != "production":
        return []
    sentences = []
    if len(env.secret_key) < 50:
        sentences.append("ATRIBUTO_SECRET_KEY must have at least 50 characters in production.")
    if not env.allowed_hosts or "*" in env.allowed_hosts:
        sentences.append(
            "ATRIBUTO_ALLOWED_HOSTS must name the hosts of the site in production, not *."
        )
    if env.metrics_open and env.host not in {"127.0.0.1", "::1", "localhost"}:
        sentences.append(
            "ATRIBUTO_METRICS_OPEN=yes and ATRIBUTO_HOST="
            f"{env.host} would show the metrics to the network: close one of them."
        )
    return sentences
