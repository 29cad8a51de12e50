"""What an administrator sets on a queue's page: workers, target age, the policy for sticky jobs."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

import queues
from atributo_site.console.durations import roughly
from atributo_site.console.queues import AWAY_SAID, back, found
from atributo_site.console.screen import Screen
from queues import catalogue
from queues.logic.away import WhenAway
from queues.logic.lateness import target_age
from queues.models.queue import MOST_TARGET_AGE_SECONDS, MOST_WORKERS
from queues.scaling import scale_by
from queues.target_age import set_target_age

STEPS = {"-1": -1, "1": 1}
AT_THE_END = {
    -1: "{} runs one job at a time already; pause it to stop it.",
    1: f"{{}} runs {MOST_WORKERS} jobs at once already, as many as may be.",
}


class ScaleForm(forms.Form):
    max_workers = forms.IntegerField(min_value=1, max_value=MOST_WORKERS)


class Scale(Screen):
    actions = {"POST": "queue.administer"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        found(name)
        form = ScaleForm(request.POST)
        if not form.is_valid():
            messages.error(request, f"Workers: a whole number from 1 to {MOST_WORKERS}.")
            return back(request, name)
        workers = form.cleaned_data["max_workers"]
        queues.create(name, workers)
        messages.success(request, scaled(name, workers))
        return back(request, name)


class Step(Screen):
    """One more or one less than there are now, whatever the page showed."""

    actions = {"POST": "queue.administer"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        found(name)
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


class TargetAgeForm(forms.Form):
    target_age_seconds = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_TARGET_AGE_SECONDS
    )


class TargetAge(Screen):
    """Empty: the default of all queues."""

    actions = {"POST": "queue.administer"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        found(name)
        form = TargetAgeForm(request.POST)
        if not form.is_valid():
            said = f"a whole number of seconds from 1 to {MOST_TARGET_AGE_SECONDS}, or nothing"
            messages.error(request, f"Target age: {said}.")
            return back(request, name)
        own = form.cleaned_data["target_age_seconds"]
        set_target_age(name, own)
        messages.success(request, f"{name} is late after {roughly(target_age(own))}.")
        return back(request, name)


class AwayForm(forms.Form):
    when_away = forms.ChoiceField(choices=[(each.value, each.value) for each in WhenAway])
    away_seconds = forms.IntegerField(min_value=0, max_value=catalogue.MOST_AWAY_SECONDS)


class Away(Screen):
    """The policy for sticky jobs whose instance is away."""

    actions = {"POST": "queue.administer"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        found(name)
        form = AwayForm(request.POST)
        if not form.is_valid():
            messages.error(request, "Choose wait, move or fail, and a whole number of seconds.")
            return back(request, name)
        policy, seconds = form.cleaned_data["when_away"], form.cleaned_data["away_seconds"]
        catalogue.set_when_away(name, policy, seconds)
        messages.success(request, f"{name}: sticky jobs {AWAY_SAID[policy].format(seconds)}.")
        return back(request, name)


def scaled(name: str, workers: int) -> str:
    if workers == 1:
        return f"{name} runs one job at a time."
    return f"{name} runs up to {workers} jobs at once."
