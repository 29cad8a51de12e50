"""Actions on pools and their backends."""

from functools import partial

from django.contrib.sessions.models import Session

from allocation.atributo import Atributo
from allocation.models import Instance
from pools import configuration
from pools.models import Backend, Pool
from tests.browser.actions.screen_action import ScreenAction, follow, press, typed, unfold

PAGE = "/pools/watched/{name}/"
BACKEND = "10.0.0.1:80"


def watched(name):
    configuration.watch(name, domain="svc.example")
    return {"name": name}


def with_backend(name):
    words = watched(name)
    Atributo().available(BACKEND)
    found = {"key": BACKEND, "instance_id": BACKEND, "address": "10.0.0.1", "port": 80}
    Backend.objects.create(pool=Pool.objects.get(name=name), name=name, **found)
    return words


def has(**columns):
    return lambda words: Pool.objects.filter(name=words["name"], **columns).exists()


def followed():
    """Return what each session follows, if it follows anything."""
    return [each.get_decoded().get("followed_names") for each in Session.objects.all()]


ACTIONS = [
    ScreenAction(
        "pool-new",
        at="/pools/",
        steps=(
            follow("Watch a name"),
            typed("name", "web"),
            typed("domain", "svc.example"),
            press("Watch name"),
        ),
        seen="web is watched as long as a curator is active.",
        changed=lambda words: has(domain="svc.example")({"name": "web"}),
    ),
    ScreenAction(
        "pool-change",
        given=partial(watched, "one"),
        at=PAGE,
        steps=(follow("Edit"), typed("grace_seconds", "77"), press("Save")),
        seen="one is saved. The watcher restarts with the new settings.",
        changed=has(grace_seconds=77),
    ),
    ScreenAction(
        "pool-pause",
        given=partial(watched, "two"),
        at=PAGE,
        steps=(press("Pause"),),
        seen="two is paused.",
        changed=has(is_watched=False),
    ),
    ScreenAction(
        "pool-resolve",
        given=partial(watched, "three"),
        at=PAGE,
        steps=(press("Resolve now"),),
        seen="three is being looked up now.",
        changed=has(asked_at__isnull=False),
    ),
    ScreenAction(
        "pool-forget",
        given=partial(watched, "four"),
        at=PAGE,
        steps=(
            unfold("Stop watching this name"),
            typed("typed", "{name}"),
            press("Stop watching {name}"),
        ),
        seen="four is no longer watched. Its instances stay as they are.",
        changed=lambda words: not has()(words),
    ),
    ScreenAction(
        "pool-administer",
        given=partial(with_backend, "five"),
        at="/pools/backends/",
        steps=(
            unfold(f"Take out {BACKEND}"),
            typed("reason", "disks"),
            press(f"Drain {BACKEND}"),
        ),
        seen="give the drain a pace",
        changed=lambda words: Instance.objects.get(pk=BACKEND).state == "draining",
    ),
    ScreenAction(
        "pools-look-up",
        at="/pools/look-up/",
        steps=(
            typed("host", "svc.example"),
            typed("nameservers", "{nameserver}"),
            press("Look up"),
        ),
        seen="1 backend",
        changed=lambda words: words["asked"](),
    ),
    ScreenAction(
        "pools-follow",
        at="/pools/look-up/",
        steps=(
            typed("host", "svc.example"),
            typed("nameservers", "{nameserver}"),
            press("Follow"),
            press("Unfollow svc.example"),
        ),
        seen="See what a name resolves to now",
        changed=lambda words: [] in followed(),
    ),
]
