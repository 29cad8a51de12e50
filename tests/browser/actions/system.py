"""Actions on operations, tokens and saved views."""

from functools import partial

from django.contrib.auth.models import User

from atributo_site.models import SavedView, TokenScope
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


def has_token(words):
    return TokenScope.objects.filter(name=words["name"]).exists()


def has_view(words):
    return SavedView.objects.filter(name=words["name"]).exists()


ACTIONS = [
    ScreenAction(
        "system-tokens",
        at="/system/tokens/",
        steps=(typed("name", "ci"), press("Make the token")),
        seen="it is shown this once",
        changed=lambda words: has_token({"name": "ci"}),
    ),
    ScreenAction(
        "system-token-revoke",
        given=partial(token, "old"),
        at="/system/tokens/",
        steps=(press("Revoke {name}"),),
        seen="The token is revoked; it works no longer.",
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
