"""Make ids of queued jobs: numbers in the rows, texts everywhere else."""

from allocation.job_ids import ids


def get_job_ids(count: int) -> list[int]:
    if count == 1:
        return [int(ids.get_job_id())]
    return [int(job_id) for job_id in ids.get_job_ids(count)]
