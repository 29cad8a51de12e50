"""What an administrator sets on a queue's page: workers, target age, retention, sticky jobs."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

import queues
from atributo_site.console.base.screen import Screen
from atributo_site.console.queues.actions import back
from atributo_site.console.queues.detail import AWAY_SAID, START_SAID, queue_or_404
from atributo_site.console.queues.forms import (
    AwayForm,
    RecordStartForm,
    RetentionForm,
    ScaleForm,
    TargetAgeForm,
)
from atributo_site.core.text import pluralize
from atributo_site.web.format import roughly
from queues import catalogue
from queues.catalogue import scale_by, set_target_age
from queues.logic.lateness import target_age
from queues.models.queue import MOST_TARGET_AGE_SECONDS, MOST_WORKERS

STEPS = {"-1": -1, "1": 1}
AT_THE_END = {
    -1: "{} runs one job at a time already; pause it to stop it.",
    1: f"{{}} runs {MOST_WORKERS} jobs at once already, as many as may be.",
}


class Setting(Screen):
    """A form of the page: refused with a sentence, or carried out and told."""

    actions = {"POST": "queue.administer"}
    form: type[forms.Form]
    refusal: str

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        queue_or_404(name)
        form = self.form(request.POST)
        if form.is_valid():
            messages.success(request, self.set(name, **form.cleaned_data))
        else:
            messages.error(request, self.refusal)
        return back(request, name)

    def set(self, name: str, **chosen: Any) -> str:
        """What to tell of it."""
        raise NotImplementedError


class Scale(Setting):
    form = ScaleForm
    refusal = f"Workers: a whole number from 1 to {MOST_WORKERS}."

    def set(self, name: str, **chosen: Any) -> str:
        queues.create(name, chosen["max_workers"])
        return scaled(name, chosen["max_workers"])


class Step(Screen):
    """One more or one less than there are now, whatever the page showed."""

    actions = {"POST": "queue.administer"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        queue_or_404(name)
        step = STEPS.get(request.POST.get("by", ""))
        if step is None:
            messages.error(request, "One more or one less: by is 1 or -1.")
            return back(request, name)
        workers = scale_by(name, step)
        if workers is None:
            messages.warning(request, AT_THE_END[step].format(name))
        else:
            messages.success(request, scaled(name, workers))
        return back(request, name)


class TargetAge(Setting):
    """Empty: the default of all queues."""

    form = TargetAgeForm
    refusal = (
        f"Target age: a whole number of seconds from 1 to {MOST_TARGET_AGE_SECONDS}, or nothing."
    )

    def set(self, name: str, **chosen: Any) -> str:
        own = chosen["target_age_seconds"]
        set_target_age(name, own)
        return f"{name} is late after {roughly(target_age(own))}."


class Retention(Setting):
    """How long finished jobs are kept; what is older goes with the curator's next sweep."""

    form = RetentionForm
    refusal = f"Retention: a whole number of days from 1 to {catalogue.MOST_DAYS}."

    def set(self, name: str, **chosen: Any) -> str:
        days = chosen["retention_days"]
        catalogue.set_retention(name, days)
        return f"{name} keeps finished jobs for {pluralize(days, 'day')}."


class RecordStart(Setting):
    """Whether the row of a job says that it runs before it begins."""

    form = RecordStartForm
    refusal = "Choose yes or no."

    def set(self, name: str, **chosen: Any) -> str:
        catalogue.set_record_start(name, chosen["record_start"])
        return f"{name}: {START_SAID[chosen['record_start']]}"


class Away(Setting):
    """The policy for sticky jobs whose instance is away."""

    form = AwayForm
    refusal = "Choose wait, move or fail, and a whole number of seconds."

    def set(self, name: str, **chosen: Any) -> str:
        policy, seconds = chosen["when_away"], chosen["away_seconds"]
        catalogue.set_when_away(name, policy, seconds)
        return f"{name}: sticky jobs {AWAY_SAID[policy].format(seconds)}."


def scaled(name: str, workers: int) -> str:
    if workers == 1:
        return f"{name} runs one job at a time."
    return f"{name} runs up to {workers} jobs at once."
