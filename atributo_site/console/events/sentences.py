"""Say in a sentence what an event tells; its facts stay beside it for whoever wants all of them."""

import re
from collections.abc import Mapping
from typing import Any

from atributo_site.core.text import pluralize
from atributo_site.web.format import duration, one_line

LONGEST = 300
NOUNS = {"id_numbers": "worker numbers", "jobs": "jobs", "load_test": "load test"}
# {name} is the subject's name, every other word a fact. A sentence whose facts are missing is not
# used, so what matters less is added by ADDED.
SENTENCES = {
    "allocation.made": "Key {name} was allocated to {instance_id}.",
    "allocation.refused": "A late write with an old epoch of {name} was refused.",
    "allocation.ended": "Key {name} left {instance_id}.",
    "allocations.made": "{count} keys were allocated.",
    "allocations.ended": "{count} keys were deallocated.",
    "allocations.moved": "The rebalance moved {count} keys.",
    "allocations.rebalanced": "The rebalance is done: {moved} keys moved.",
    "allocations.rebalance_started": "A rebalance of {jobs} keys started.",
    "allocations.rebalance_stopped": "The rebalance was stopped after {moved} keys.",
    "attempt.refused": "A late attempt at job {name} was refused.",
    "backend.added": "Backend {instance} of {name} appeared in DNS.",
    "backend.administered": "Backend {instance} of {name} was set to {detail}.",
    "backend.gone": "Backend {instance} of {name} left DNS.",
    "backend.kept": "Backend {instance} of {name} was left as it is: {detail}.",
    "backend.refused": "Backend {instance} of {name} is not used: {detail}.",
    "backend.removed": "Backend {instance} of {name} was removed.",
    "backend.returned": "Backend {instance} of {name} came back to DNS.",
    "batch.aborted": "{count} jobs of batch {name} were aborted.",
    "batch.closed": "Batch {name} was closed.",
    "batch.complete": "Batch {name} is complete: {complete} jobs.",
    "batch.failed": "Batch {name} has ended: {failed} jobs failed, {complete} are complete.",
    "batch.opened": "Batch {name} was opened.",
    "batch.pushed": "Batch {name} was pushed with {jobs} jobs.",
    "batch.retried": "{count} failed jobs of batch {name} will run again.",
    "collection.dropped": "Collection {name} was dropped with {documents} documents.",
    "command.ran": "The command {name} ran.",
    "curator.active": "{name} is the active curator.",
    "curator.handed_over": "{name} was asked to hand over the curator's role.",
    "curator.repaired": "The curator repaired {count}: {repair}.",
    "curator.replaced": "{name} lost the curator's role.",
    "curator.resigned": "{name} gave up the curator's role.",
    "demo.made": "Demo content was made.",
    "document.deleted": "Document {name} was deleted.",
    "document.patched": "Document {name} was changed.",
    "document.put": "Document {name} was written.",
    "doorbell.foreign": "{name} ignored a message in Redis that Atributo did not send.",
    "id_numbers.expired": "Worker numbers expired: {numbers}.",
    "incident.acknowledged": "Acknowledged: {title}",
    "incident.opened": "Opened: {title}",
    "incident.resolved": "Resolved: {title}",
    "instance.available": "{name} is available.",
    "instance.changed": "The settings of {name} were changed.",
    "instance.dead": "{name} stopped sending heartbeats.",
    "instance.drain_adjusted": "Pace and deadline of the drain of {name} were set.",
    "instance.drain_forced": "All remaining keys of {name} move now.",
    "instance.drain_stopped": "The drain of {name} was stopped.",
    "instance.drain_stuck": "{left} keys of {name} have nowhere to go.",
    "instance.drained": "{name} is drained.",
    "instance.draining": "{name} started draining.",
    "instance.jobs_moved": "{count} keys left {name}.",
    "instance.removed": "{name} was removed.",
    "instance.restored": "{name} is available again, as its source decides.",
    "instance.unavailable": "{name} is unavailable.",
    "job.debounced": "The data and start time of waiting job {name} were replaced.",
    "job.abort_asked": "Job {name} was asked to stop.",
    "job.aborted": "Job {name} was aborted.",
    "job.deleted": "Job {name} was deleted.",
    "job.not_started": "Job {name} failed: a job that it waited for did not complete.",
    "job.paused": "The schedule of job {name} was paused.",
    "job.pushed": "Job {name} was pushed.",
    "job.rerouted": "Job {name} goes to another instance.",
    "job.rescheduled": "The schedule of job {name} was changed.",
    "job.resumed": "The schedule of job {name} was resumed.",
    "job.given_up": "Job {name} failed: no worker serves {instance}.",
    "job.pushed_again": "Job {name} was pushed again as job {job}.",
    "job.reset": "Job {name} will run again from the start.",
    "job.run_now": "Job {name} was asked to run at once.",
    "jobs.pushed": "{count} jobs of {script} were pushed.",
    "jobs.retry": "{count} jobs will run again.",
    "jobs.abort": "{count} jobs were aborted.",
    "jobs.delete": "{count} jobs were deleted.",
    "lease.refused": "{name} acted on a lease that it no longer holds. Nothing was written.",
    "load_test.ended": "The load test ended.",
    "load_test.started": "A load test with {clients} clients started.",
    "lock.orphan_freed": "A leftover lock on {name} was released.",
    "lock.released": "The lock on {name} was released.",
    "operation.aborted": "Operation {name} was stopped.",
    "operation.complete": "Operation {name} is complete: {changed} jobs changed.",
    "operation.started": "Operation {name} started: {action} all jobs that match {query}.",
    "pool.asked": "A lookup of {name} was requested.",
    "pool.changed": "The settings of {name} were changed.",
    "pool.failed": "The lookup of {name} failed: {detail}",
    "pool.fresh": "Lookups of {name} succeed again.",
    "pool.forgotten": "{name} is no longer watched.",
    "pool.running": "The lookup of {name} succeeded.",
    "pool.settled": "{name} is no longer in doubt: {detail}.",
    "pool.stale": "The lookup of {name} failed, so its last backends are kept: {detail}",
    "pool.waiting": "{name} is in doubt: {detail}.",
    "pool.watched": "{name} is watched: {domain}.",
    "process.died": "Process {name} died and was started again.",
    "push.delivered": "Jobs that transaction {name} held back were pushed.",
    "push.held": "Job {name} waits for transaction {transaction} to complete.",
    "push.superseded": "A push to {name} was dropped: job {job} with its key waits there.",
    "queue.changed": "The settings of queue {name} were changed.",
    "queue.created": "Queue {name} was created.",
    "queue.deleted": "Queue {name} was deleted.",
    "queue.paused": "Queue {name} was paused.",
    "queue.resumed": "Queue {name} was resumed.",
    "rule.broken": "Rule {name} is broken.",
    "rule.holds_again": "Rule {name} holds again.",
    "run.refused": "Results for queue {name} came too late and were refused.",
    "run.lost": "A run of job {name} was lost: its worker died or lost its lease.",
    "schedule.backfilled": "A backfill of {name} started: {count} runs.",
    "schedule.backfill_stopped": "The backfill of {name} was stopped: {count} runs were dropped.",
    "schedule.changed": "Schedule {name} was changed.",
    "schedule.created": "Schedule {name} was created.",
    "schedule.deleted": "Schedule {name} was deleted.",
    "schedule.ended": "Schedule {name} ended after {runs} runs.",
    "schedule.missed": "Schedule {name} missed {count} runs.",
    "schedule.paused": "Schedule {name} was paused.",
    "schedule.refused": "Schedule {name} could not push its job: {error}",
    "schedule.resumed": "Schedule {name} was resumed.",
    "schedule.run_now": "Schedule {name} ran once, out of turn: job {job}.",
    "schedule.deployed": "The schedules of {name} were updated from its code.",
    "script.changed": "The limits of script {script} of {name} were changed.",
    "script.dry_ran": "Script {script} of {name} had a dry run.",
    "script.failed": "Script {script} of {name} failed: {error}",
    "script.ran": "Script {script} of {name} ran.",
    "service.configured": "{name} was configured.",
    "service.declared": "The functions of {name} were declared.",
    "service.development": "Development mode of {name} was changed.",
    "service.installed": "{name} was installed.",
    "service.replaced": "{name} was replaced.",
    "service.uninstalled": "{name} was uninstalled.",
    "service.undeclared": "{name} no longer declares functions.",
    "service.upgraded": "{name} was upgraded.",
    "service.script_failed": "Script {script} of {name} failed: {error}",
    "station.away": "No worker serves {name}.",
    "station.left": "A worker left {name}.",
    "station.served": "A worker serves {name}.",
    "token.made": "A token was created.",
    "token.revoked": "A token was revoked.",
    "transaction.began": "Transaction {name} began.",
    "transaction.completed": "Transaction {name} completed. Its changes are kept.",
    "transaction.curated": "The curator rolled transaction {name} back.",
    "transaction.deleted": "Transaction {name} deleted {document}.",
    "transaction.locked": "Transaction {name} locked {document}.",
    "transaction.put": "Transaction {name} wrote {document}.",
    "transaction.renewed": "The deadline of transaction {name} was extended.",
    "transaction.rolled_back": "Transaction {name} was rolled back.",
    "transaction.refused": "A late write by transaction {name} was refused.",
    "transaction.stuck": "The rollback of transaction {name} failed: {error}",
    "user.added": "User {name} was created as {role}.",
    "user.changed": "User {name} was changed.",
    "user.disabled": "User {name} was disabled.",
    "user.enabled": "User {name} was enabled.",
    "user.password_reset": "The password of {name} was reset.",
    "user.created": "User {name} was created.",
    "user.logged_in": "{name} logged in.",
    "user.logged_out": "{name} logged out.",
    "user.login_failed": "Logging in as {name} failed.",
    "user.password_changed": "{name} has a new password.",
    "view.removed": "A saved view was removed.",
    "view.saved": "A saved view was added.",
}
ONE_OF = re.compile(
    r"(?<![\d.,:])(1 (?:failed )?)(key|job|run|client|document)s( of \S+)?( were| have| are)?\b"
)
VERBS = {" were": " was", " have": " has", " are": " is"}
ADDED = {
    "reason": "Reason: {}",
    "note": "Note: {}",
    "last_exit": "Last exit: {}",
    "times": "{} times",
    "max_workers": "Jobs at once: {}",
    "retention_days": "Retention: {} days",
    "target_age_seconds": "Target age: {}s",
    "moved": "Moved: {}",
    "restored": "Documents restored: {}",
    "refused": "Refused: {}",
    "jobs_dropped": "Keys dropped: {}",
    "waiting": "Waiting jobs: {}",
}


def sentence(kind: str, subject: str, facts: Mapping[str, Any]) -> str:
    """Return what happened, with the facts that explain it; the facts are masked already."""
    noun, colon, name = subject.partition(":")
    words = {key: _word(value) for key, value in facts.items() if not isinstance(value, dict)}
    words["name"] = name if colon else subject
    template = SENTENCES.get(kind, "")
    try:
        main = template.format_map(words)
    except (KeyError, ValueError, IndexError):  # an older event without that fact
        main = ""
    main = main or _plain(kind, noun if colon else "", words["name"])
    used = {key for key in words if f"{{{key}}}" in template}
    more = [ADDED[key].format(words[key]) for key in ADDED if words.get(key) and key not in used]
    return " ".join([_one_of_each(main), *(f"{each}." for each in more)])[:LONGEST]


def _one_of_each(text: str) -> str:
    """Write "1 key was" for "1 keys were"; a template cannot know the number."""

    def single(match: re.Match[str]) -> str:
        count, noun, whose, verb = match.groups(default="")
        return f"{count}{noun}{whose}{VERBS.get(verb, verb)}"

    return ONE_OF.sub(single, text)


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(one_line(each) for each in value)
    return one_line(value)


def _plain(kind: str, noun: str, name: str) -> str:
    """Make a sentence of the kind alone: queue.paused becomes "Queue mail: paused"."""
    verb = kind.rpartition(".")[2].replace("_", " ")
    thing = f"{NOUNS.get(noun, noun).replace('_', ' ').capitalize()} {name}".strip()
    return f"{thing}: {verb}."


def failures_sentence(count: int, error: str, seconds: float) -> str:
    """Say what a group of failed jobs has in common."""
    within = f" within {duration(seconds)}" if count > 1 and seconds >= 1 else ""
    return f"{pluralize(count, 'job')} failed{within}: {error or 'no error is known'}"[:LONGEST]
