"""Close a batch, retry what failed, abort the rest."""

from typing import Any

from django.urls import reverse

from atributo_site.console.base.actions import Action, Confirmation, NothingChanged
from atributo_site.console.base.forms import reason_of
from atributo_site.console.base.terminal import curl
from atributo_site.core.text import pluralize
from queues.api.batches import batch_or_404
from queues.jobs import batches
from queues.jobs.bulk import Done
from queues.models import Batch


class BatchAction(Action):
    actions = {"POST": "job.operate"}
    batch: Batch

    def load(self, batch_id: str) -> None:
        self.batch = batch_or_404(batch_id)

    def back(self) -> str:
        return self.batch.get_absolute_url()


class Close(BatchAction):
    actions = {"POST": "job.push"}

    def act(self) -> str:
        if not batches.close(self.batch.pk):
            raise NothingChanged(f"Batch {self.batch} was closed before.")
        return f"Batch {self.batch} is closed. It ends with the last of its jobs."


class BatchConfirmation(Confirmation, BatchAction):
    actions = {"GET": "job.operate", "POST": "job.operate"}
    verb = ""

    def question(self) -> dict[str, Any]:
        batch = self.batch
        return {
            "crumbs": [("Batches", reverse("atributo:batches")), (str(batch), self.back())],
            "leave": "Cancel",
            "command": f"manage.py batches {self.verb} {batch.pk}",
            "rest": curl(f"/api/v1/batches/{batch.pk}/{self.verb}", "POST"),
            **self.words(),
        }

    def words(self) -> dict[str, Any]:
        """Return the heading, what happens, and the words of the button."""
        raise NotImplementedError

    def told(self, done: Done, what: str) -> str:
        left = (
            f" {pluralize(len(done.refused), 'job')} could not be changed." if done.refused else ""
        )
        if not done.changed:
            raise NothingChanged(f"No job of batch {self.batch} was changed.{left}")
        return f"{pluralize(done.changed, 'job')} of batch {self.batch} {what}.{left}"


class Retry(BatchConfirmation):
    verb = "retry"

    def words(self) -> dict[str, Any]:
        return {
            "heading": f"Retry the failed jobs of batch {self.batch}",
            "lead": "Its failed, aborted and expired jobs start over. Jobs that wait for others "
            "wait again. The batch goes on, and calls back when it ends.",
            "button": "Retry",
        }

    def act(self) -> str:
        return self.told(batches.retry_failed(self.batch.pk), "start over")


class Abort(BatchConfirmation):
    verb = "abort"

    def words(self) -> dict[str, Any]:
        return {
            "heading": f"Abort the rest of batch {self.batch}",
            "lead": "Every job that has not ended is aborted, running ones included. The batch "
            "ends as failed and calls back.",
            "button": "Abort the rest",
            "is_danger": True,
            "takes_reason": True,
        }

    def act(self) -> str:
        done = batches.abort_rest(self.batch.pk, reason=reason_of(self.request))
        return self.told(done, "are aborted")
