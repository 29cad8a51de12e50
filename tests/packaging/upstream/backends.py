"""Our backend with what Django's tests ask of the two that it replaces.

Nothing of enqueueing, of results or of signals is changed.
"""

from queues.models import QueuedJob
from queues.tasks import AtributoBackend
from queues.testing import run_due


class WaitingBackend(AtributoBackend):
    """In the place of the dummy backend, which keeps results in a list."""

    @property
    def results(self):
        jobs = QueuedJob.objects.order_by("id").values_list("id", flat=True)
        return [self.get_result(str(each)) for each in jobs]

    def clear(self):
        QueuedJob.objects.all().delete()


class WorkingBackend(WaitingBackend):
    """In the place of the immediate backend: a worker runs the job before the result is seen."""

    def enqueue(self, task, args, kwargs):
        result = super().enqueue(task, args, kwargs)
        run_due()
        result.refresh()
        return result
