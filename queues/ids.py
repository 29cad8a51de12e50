"""Ids of queued jobs: numbers in the rows, texts everywhere else."""

from allocation import job_ids


def get_job_ids(count: int) -> list[int]:
    if count == 1:
        return [int(job_ids.get_job_id())]
    return [int(job_id) for job_id in job_ids.get_job_ids(count)]
