"""The command of operators on other machines: `atributo --url ...`, `python -m atributo_client`.

The answer is JSON on standard output; an error is one line on standard error and exit code 1.
"""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any

from atributo_client.client import Client
from atributo_client.failures import AtributoError
from atributo_client.retries import Retries
from atributo_client.steps import NOTHING

LONGEST_SECONDS = 86_400
Arguments = argparse.Namespace
Command = Callable[[Client, Arguments], Any]


def main(words: list[str] | None = None, program: str = "atributo_client") -> int:
    """Run one command; `program` is the word that its user has typed."""
    given = parser(program).parse_args(words)
    if not given.url or not given.token:
        ways = "--url and --token, or ATRIBUTO_URL and ATRIBUTO_TOKEN"
        return _fail(program, f"name the site with {ways}")
    try:
        retries = Retries(patience_seconds=given.patience)
        with Client(given.url, given.token, timeout_seconds=given.timeout, retries=retries) as site:
            _print(given.command(site, given))
    except AtributoError as error:
        return _fail(program, f"{error.code}: {error}")
    except ValueError as error:
        return _fail(program, str(error))
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0


def parser(program: str) -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(program, description=__doc__)
    whole.add_argument("--url", default=os.environ.get("ATRIBUTO_URL"))
    whole.add_argument("--token", default=os.environ.get("ATRIBUTO_TOKEN"))
    whole.add_argument("--timeout", type=_seconds, default=30.0, help="seconds for one answer")
    whole.add_argument("--patience", type=_seconds, default=30.0, help="seconds of all retries")
    verbs = whole.add_subparsers(required=True, metavar="command")

    _verb(verbs, "me", lambda site, _: site.me(), "who asks, and what may be done")
    for name, command, words in (
        ("allocate", _allocate, "the instances of job ids"),
        ("deallocate", _deallocate, "forget the places of job ids"),
    ):
        _verb(verbs, name, command, words).add_argument("job_ids", nargs="+")
    _push_words(_verb(verbs, "push", _push, "push a job and print its id"))
    _job_words(_verb(verbs, "jobs", _jobs, "list jobs, or do something with one"))
    _instance_words(_verb(verbs, "instances", _instances, "list instances, or change one"))
    _queue_words(_verb(verbs, "queues", _queues, "list queues, or change one"))
    _schedule_words(_verb(verbs, "schedules", _schedules, "list schedules, or change one"))
    events = _verb(verbs, "events", _events, "print what happens, a line for each event")
    events.add_argument("topics", nargs="*")
    return whole


def _verb(verbs: Any, name: str, command: Command, words: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = verbs.add_parser(name, help=words, description=words)
    one.set_defaults(command=command)
    return one


def _push_words(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("queue")
    verb.add_argument("mount")
    verb.add_argument("script")
    verb.add_argument("--data", type=_json, default=NOTHING, help="JSON")
    verb.add_argument("--options", type=_object, default={}, help='JSON, such as {"priority": 1}')
    verb.add_argument("--key", help="an idempotency key: the same one pushes once")
    verb.add_argument("--wait", type=_seconds, help="wait so many seconds for the result")


def _job_words(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("action", nargs="?", choices=JOB_ACTIONS, default="list")
    verb.add_argument("job_id", nargs="?")
    verb.add_argument("--queue")
    verb.add_argument("--state")
    verb.add_argument("--limit", type=int, default=50)
    verb.add_argument("--reason", help="why it is aborted or paused")


def _instance_words(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("action", nargs="?", choices=INSTANCE_ACTIONS, default="list")
    verb.add_argument("instance_id", nargs="?")
    verb.add_argument("--reason")


def _queue_words(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("action", nargs="?", choices=QUEUE_ACTIONS, default="list")
    verb.add_argument("queue", nargs="?")


def _schedule_words(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("action", nargs="?", choices=SCHEDULE_ACTIONS, default="list")
    verb.add_argument("schedule", nargs="?")
    verb.add_argument("--reason", help="why it is paused")


JOB_ACTIONS = ["list", "get", "attempts", "abort", "retry", "pause", "resume", "run-now", "delete"]
INSTANCE_ACTIONS = ["list", "get", "available", "unavailable", "drain", "restore", "remove"]
QUEUE_ACTIONS = ["list", "get", "create", "pause", "resume", "delete"]
SCHEDULE_ACTIONS = ["list", "get", "pause", "resume", "run-now", "delete"]
NO_OPTIONS = {"queue", "script", "data", "idempotency_key"}  # they have words of their own


def _allocate(site: Client, given: Arguments) -> Any:
    return site.allocate_many(given.job_ids)


def _deallocate(site: Client, given: Arguments) -> Any:
    return {"deallocated": site.allocations.deallocate_many(given.job_ids)}


def _push(site: Client, given: Arguments) -> Any:
    if wrong := sorted(NO_OPTIONS & given.options.keys()):
        raise ValueError(f"--options takes no {', '.join(wrong)}")
    script, key = {"mount": given.mount, "name": given.script}, given.key
    push: Any = site.push
    job_id = push(given.queue, script, given.data, idempotency_key=key, **given.options)
    if given.wait is None:
        return {"id": job_id}
    return site.wait(job_id, timeout_seconds=given.wait)


def _jobs(site: Client, given: Arguments) -> Any:
    if given.action != "list":
        return _done(site.jobs, given, _named(given.job_id, "a job id"), ("abort", "pause"))
    filters = {"queue": given.queue, "state": given.state, "limit": given.limit}
    return site.jobs.list(**filters).results


def _instances(site: Client, given: Arguments) -> Any:
    if given.action == "list":
        return site.every(site.instances.list())
    reasons = [each for each in INSTANCE_ACTIONS if each != "get"]
    return _done(site.instances, given, _named(given.instance_id, "an instance"), reasons)


def _queues(site: Client, given: Arguments) -> Any:
    if given.action == "list":
        return site.every(site.queues.list())
    return getattr(site.queues, given.action)(_named(given.queue, "a queue"))


def _schedules(site: Client, given: Arguments) -> Any:
    if given.action == "list":
        return site.every(site.schedules.list())
    return _done(site.schedules, given, _named(given.schedule, "a schedule"), ("pause",))


def _done(group: Any, given: Arguments, name: str, with_reason: Collection[str]) -> Any:
    """Do what was asked with one thing; a reason is for the actions that keep one."""
    if given.reason and given.action not in with_reason:
        raise ValueError(f"{given.action} takes no --reason")
    reason = {"reason": given.reason} if given.reason else {}
    return getattr(group, given.action.replace("-", "_"))(name, **reason)


def _events(site: Client, given: Arguments) -> None:
    for message in site.events(*given.topics):
        print(json.dumps({"kind": message.kind, "data": message.data}), flush=True)


def _named(name: str | None, what: str) -> str:
    if not name:
        raise ValueError(f"this needs the name of {what}")
    return name


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= LONGEST_SECONDS:  # nor is it nan
        raise argparse.ArgumentTypeError(f"must be seconds from 0 to {LONGEST_SECONDS}")
    return seconds


def _object(text: str) -> dict[str, Any]:
    if not isinstance(value := _json(text), dict):
        raise argparse.ArgumentTypeError("must be a JSON object")
    return value


def _print(value: Any) -> None:
    if value is not None:
        whole = list(value) if isinstance(value, Iterator) else value
        print(json.dumps(whole, indent=2, ensure_ascii=False))


def _fail(program: str, words: str) -> int:
    print(f"{program}: {words}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
