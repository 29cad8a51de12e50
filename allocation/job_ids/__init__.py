"""Time-ordered job ids and the worker numbers that keep them unique across a cluster."""

from allocation.job_ids.ids import get_job_id, get_job_ids, parse, release

__all__ = ["get_job_id", "get_job_ids", "parse", "release"]
