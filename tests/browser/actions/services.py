"""Actions on services and scripts."""

from functools import partial

from atributo_site.core.models import Event
from queues.models import QueuedJob, Service
from queues.services import installation
from tests.browser.actions.screen_action import ScreenAction, follow, press, typed, unfold

PAGE = "/services{mount}/"
SCRIPT = "/services{mount}/-/scripts/{script}/"


def installed(mount, folder="multiplier", script="multiply"):
    installation.install(folder, mount)
    return {"mount": mount, "script": script}


def has(**columns):
    return lambda words: Service.objects.filter(mount=words["mount"], **columns).exists()


def happened(kind):
    return lambda words: Event.objects.filter(
        kind=kind, subject=f"service:{words['mount']}"
    ).exists()


ACTIONS = [
    ScreenAction(
        "services",
        at="/services/",
        steps=(typed("mount", "/fresh"), press("Install")),
        seen="is installed at /fresh.",
        changed=lambda words: has()({"mount": "/fresh"}),
    ),
    ScreenAction(
        "service-upgrade",
        given=partial(installed, "/one"),
        at=PAGE,
        steps=(press("Reload"),),
        seen="Reloaded from its folder: multiplier 1.0.0.",
        changed=happened("service.upgraded"),
    ),
    ScreenAction(
        "service-development",
        given=partial(installed, "/two"),
        at=PAGE,
        steps=(press("Development on"),),
        seen="Development mode is on.",
        changed=has(development=True),
    ),
    ScreenAction(
        "service-configure",
        given=partial(installed, "/three", "mailer"),
        at=PAGE,
        steps=(
            typed("configuration", '{{"sender": "ada@example.org"}}'),
            press("Save configuration"),
        ),
        seen="The configuration is saved.",
        changed=lambda words: has(configuration__sender="ada@example.org")(words),
    ),
    ScreenAction(
        "service-uninstall",
        given=partial(installed, "/four"),
        at=PAGE,
        steps=(follow("Uninstall"), press("Uninstall {mount}")),
        seen="/four is uninstalled.",
        changed=lambda words: not has()(words),
    ),
    ScreenAction(
        "script-limits",
        given=partial(installed, "/eight"),
        at=SCRIPT,
        steps=(typed("limits", '[{{"per": "script", "at_once": 2}}]'), press("Save limits")),
        seen="multiply: 2 at once per script.",
        changed=happened("script.changed"),
    ),
    ScreenAction(
        "script",
        given=partial(installed, "/five"),
        at=SCRIPT,
        steps=(typed("data-0", "6"), typed("data-1", "7"), press("Run now")),
        seen="css=.tree span:text-is('42')",
        changed=happened("script.ran"),
    ),
    ScreenAction(
        "script",
        given=partial(installed, "/seven"),
        at=SCRIPT,
        steps=(typed("data-0", "6"), typed("data-1", "7"), press("Dry run")),
        seen="everything below was undone",
        changed=happened("script.dry_ran"),
    ),
    ScreenAction(
        "script-push",
        given=partial(installed, "/six"),
        at=SCRIPT,
        steps=(
            typed("data-0", "6"),
            typed("data-1", "7"),
            unfold("Queue and push options"),
            typed("priority", "1"),
            press("Push to queue"),
        ),
        seen="Pushed to default.",
        changed=lambda words: QueuedJob.objects.filter(mount=words["mount"]).exists(),
    ),
]
