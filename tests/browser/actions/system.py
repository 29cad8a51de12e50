"""Actions on incidents, tokens and saved views."""

from functools import partial

from django.contrib.auth.models import User

from atributo_site.models import Incident, SavedView, TokenScope
from atributo_site.web import tokens
from tests.browser.actions.screen_action import ScreenAction, press, typed, unfold

USER = "viewer"


def token(name):
    made, _ = tokens.make_token(User.objects.get(username=USER), name=name, level="view", days=1)
    return {"id": made.pk, "name": name}


def view(name):
    user = User.objects.get(username=USER)
    SavedView.objects.create(user=user, screen="jobs", name=name, query="state=failed")
    return {"name": name}


def incident():
    facts = {"severity": "warning", "title": "The queue mail is late"}
    return {"id": Incident.objects.create(kind="queue.late", subject="queue:mail", **facts).pk}


def has_token(words):
    return TokenScope.objects.filter(name=words["name"]).exists()


def has_view(words):
    return SavedView.objects.filter(name=words["name"]).exists()


ACTIONS = [
    ScreenAction(
        "incident-acknowledge",
        given=incident,
        at="/incidents/{id}/",
        steps=(typed("note", "I look at it"), press("Acknowledge")),
        seen="Acknowledged: it stays on the list until its cause is gone.",
        changed=lambda words: Incident.objects.get(pk=words["id"]).note == "I look at it",
    ),
    ScreenAction(
        "system-tokens",
        at="/system/tokens/",
        steps=(typed("name", "ci"), press("Create token")),
        seen="It is shown only once",
        changed=lambda words: has_token({"name": "ci"}),
    ),
    ScreenAction(
        "system-token-revoke",
        given=partial(token, "old"),
        at="/system/tokens/",
        steps=(press("Revoke {name}"),),
        seen="The token is revoked and no longer works.",
        changed=lambda words: not has_token(words),
    ),
    ScreenAction(
        "view-save",
        at="/jobs/?state=failed",
        steps=(unfold("Save this view"), typed("name", "Broken"), press("Save")),
        seen="The view Broken is saved.",
        changed=lambda words: has_view({"name": "Broken"}),
    ),
    ScreenAction(
        "view-remove",
        given=partial(view, "Done with"),
        at="/jobs/",
        steps=(press("Remove the view {name}"),),
        seen="The view Done with is removed.",
        changed=lambda words: not has_view(words),
    ),
    ScreenAction(
        "theme",
        at="/",
        steps=(unfold("Theme: auto"), press("Dark")),
        seen="css=html[data-theme=dark]",
        changed=lambda words: words["theme"]() == "dark",
    ),
]
