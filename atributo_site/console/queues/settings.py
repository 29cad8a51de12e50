"""Set what an administrator may set on a queue's page: workers, target age, retention, away."""

from typing import Any

from django import forms
from django.db.transaction import atomic

import queues
from atributo_site.console.base.actions import NothingChanged
from atributo_site.console.base.forms import BadForm
from atributo_site.console.queues.actions import QueueAction
from atributo_site.console.queues.detail import AWAY_SENTENCES, START_SENTENCES
from atributo_site.console.queues.forms import (
    AwayForm,
    LimitsForm,
    RecordStartForm,
    RetentionForm,
    ScaleForm,
    StepForm,
    TargetAgeForm,
)
from atributo_site.core.text import pluralize, written
from atributo_site.web.format import roughly
from queues import catalogue
from queues.catalogue import scale_by, set_target_age
from queues.errors import BadQueue
from queues.logic.flow.limits import parsed
from queues.logic.lateness import target_age
from queues.models.queue import MOST_TARGET_AGE_SECONDS, MOST_WORKERS
from queues.queries.flows import limits_status

AT_THE_END = {
    -1: "{} already runs one job at a time. Pause it to stop it.",
    1: f"{{}} already runs {MOST_WORKERS} jobs at once, the maximum.",
}


class Setting(QueueAction):
    """Read one form of the page and set what it says."""

    actions = {"POST": "queue.administer"}
    refusals = (BadForm,)
    form: type[forms.Form]
    refusal: str

    def act(self) -> str:
        form = self.form(self.request.POST)
        if not form.is_valid():
            raise BadForm(self.refusal)
        return self.set(self.queue.name, **form.cleaned_data)

    def set(self, name: str, **chosen: Any) -> str:
        """Store it and return the sentence that says so."""
        raise NotImplementedError


class Scale(Setting):
    form = ScaleForm
    refusal = f"Jobs at once must be a whole number from 1 to {MOST_WORKERS}."

    def set(self, name: str, **chosen: Any) -> str:
        queues.create(name, chosen["max_workers"])
        return scaled(name, chosen["max_workers"])


class Step(Setting):
    """Add or take away one worker from those there are now, whatever the page showed."""

    form = StepForm
    refusal = "The step must be 1 or -1."

    def set(self, name: str, **chosen: Any) -> str:
        workers = scale_by(name, chosen["by"])
        if workers is None:
            raise NothingChanged(AT_THE_END[chosen["by"]].format(name))
        return scaled(name, workers)


class TargetAge(Setting):
    """Set the target age; an empty field stands for the default of all queues."""

    form = TargetAgeForm
    refusal = (
        "The target age must be a duration such as 30s or 5m, at most"
        f" {written(MOST_TARGET_AGE_SECONDS * 1000)}, or empty."
    )

    def set(self, name: str, **chosen: Any) -> str:
        own = chosen["target_age_seconds"]
        set_target_age(name, own)
        return f"{name} is late after {roughly(target_age(own))}."


class Retention(Setting):
    """Set how long finished jobs are kept; the curator's next sweep deletes older ones."""

    form = RetentionForm
    refusal = f"The retention must be a whole number of days from 1 to {catalogue.MOST_DAYS}."

    def set(self, name: str, **chosen: Any) -> str:
        days = chosen["retention_days"]
        catalogue.set_retention(name, days)
        return f"{name} keeps finished jobs for {pluralize(days, 'day')}."


class RecordStart(Setting):
    """Set whether the start of a job is written before the job begins."""

    form = RecordStartForm
    refusal = "Choose yes or no."

    def set(self, name: str, **chosen: Any) -> str:
        catalogue.set_record_start(name, chosen["record_start"])
        return f"{name}: {START_SENTENCES[chosen['record_start']]}"


class Limits(Setting):
    """Set the limits and the weights of a queue; what waits already waits for the new ones."""

    form = LimitsForm
    refusal = 'Limits are a list as JSON, such as [{"per": "key", "at_once": 2}], or empty.'

    def set(self, name: str, **chosen: Any) -> str:
        try:
            with atomic():
                catalogue.set_limits(name, chosen["limits"])
                catalogue.set_weights(name, chosen["weights"])
        except BadQueue as error:
            raise BadForm(str(error)) from error
        status = limits_status(catalogue.row(name))
        said = ", ".join(limit.said() for limit in parsed(status["limits"])) or "no limits"
        keys = pluralize(len(status["waiting"]), "flow key waits", "flow keys wait")
        end = catalogue.what_if(name, status["limits"])["now"]["said"]
        return f"{name}: {said}. {keys} for a limit now. {end}"


class Away(Setting):
    """Set what happens to sticky jobs whose instance is away."""

    form = AwayForm
    refusal = "Choose wait, move or fail, and a duration such as 30s or 5m."

    def set(self, name: str, **chosen: Any) -> str:
        policy, seconds = chosen["when_away"], chosen["away_seconds"]
        catalogue.set_when_away(name, policy, seconds)
        return (
            f"{name}: sticky jobs {AWAY_SENTENCES[policy].format(written((seconds or 0) * 1000))}."
        )


def scaled(name: str, workers: int) -> str:
    if workers == 1:
        return f"{name} runs one job at a time."
    return f"{name} runs up to {workers} jobs at once."
