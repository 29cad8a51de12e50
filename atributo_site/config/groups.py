"""The groups of settings, by what they are about, for people who look for one."""

from typing import Any

OTHERS = "More"
GROUPS = {
    "Site": ("mode", "badge", "var_dir", "demo", "admin_user", "admin_password", "log_level"),
    "Web server": ("host", "port", "web_threads", "allowed_hosts", "trusted_origins")
    + ("behind_proxy", "proxies", "hsts_subdomains", "body_bytes", "requests_per_minute")
    + ("streams", "streams_per_user", "metrics_open"),
    "People and secrets": ("secret_key", "old_secret_key", "idle_minutes", "token_days"),
    "Database and Redis": ("database_url", "redis_url", "statement_timeout_ms")
    + ("busy_timeout_ms", "push_timeout_ms"),
    "Allocation and ids": ("strategy", "worker_id", "cluster_size", "id_lead_ms"),
    "Workers and scripts": ("workers", "worker_instances", "worker_queues", "worker_exclude")
    + ("worker_concurrency", "worker_heartbeat_ms", "worker_lease_ms", "worker_memory_mb")
    + ("script_timeout_ms", "script_env", "service_roots"),
    "Curator and transactions": ("curator_heartbeat_interval_ms", "curator_heartbeat_timeout_ms")
    + ("curator_inactivity_delay_ms", "max_job_time_ms", "additional_timeout_wait_ms")
    + ("max_job_limit_ms", "lock_delay_ms"),
    "Retention": ("transaction_retention_days", "version_retention_days", "event_retention_days"),
    "DNS": ("dns_servers", "dns_server_networks", "dns_target_networks", "dns_ttl_floor_ms")
    + ("dns_ttl_ceiling_ms",),
}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


def grouped(described: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the described settings by group, in the order of GROUPS; others come last."""
    found: dict[str, list[dict[str, Any]]] = {group: [] for group in [*GROUPS, OTHERS]}
    for setting in described:
        found[GROUP_OF.get(setting["attribute"], OTHERS)].append(setting)
    return {group: settings for group, settings in found.items() if settings}
