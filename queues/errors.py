"""Errors of queues, jobs, services and scripts."""

from allocation.errors import AtributoError


class WorkerNameTaken(AtributoError):
    """Two live workers must not share a name."""

    status_code = 409
    code = "worker_name_taken"
