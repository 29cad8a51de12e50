"""Every command of ours with its verbs, in an order in which each finds its object.

Each entry is (command line, kind of the event). A line names what earlier ones made: `job`, `lock`
…
"""

NOTHING = None

DELAYED = "push q /probe act --data {} --delay 1h --repeat-times -1 --repeat-delay 1h"

COMMANDS = [
    ("instances available i-1", "instance.available"),
    ("instances list", NOTHING),
    ("allocate a-1", "allocation.made"),
    ("jobs i-1", NOTHING),
    ("rebalance --pace 60", "allocations.rebalance_started"),
    ("deallocate a-1", "allocations.ended"),
    ("instances unavailable i-1", "instance.unavailable"),
    ("instances drain i-1", "instance.draining"),
    ("instances restore i-1", "instance.restored"),
    ("instances remove i-1", "instance.removed"),
    ("job_id make", NOTHING),  # counted in memory
    ("job_id decode 25022512311472305", NOTHING),
    ("documents put c k {}", "document.put"),
    ("documents get c k", NOTHING),
    ("documents history c k", NOTHING),
    ("documents list c", NOTHING),
    ("documents search c *", NOTHING),
    ("documents delete c k", "document.deleted"),
    ("documents drop c --yes", "collection.dropped"),
    ("transactions list", NOTHING),
    ("transactions show {first}", NOTHING),
    ("transactions roll-back {first} --reason audit", "transaction.rolled_back"),
    ("transactions complete {second} --reason audit", "transaction.completed"),
    ("transactions retry {stuck} --reason audit", "transaction.rolled_back"),
    ("locks list", NOTHING),
    ("locks release {lock} --reason audit", "lock.released"),
    ("pools watch web --domain svc.example.com", "pool.watched"),
    ("pools list", NOTHING),
    ("pools show web", NOTHING),
    ("pools backends web", NOTHING),
    ("pools changes web", NOTHING),
    ("pools change web --domain other.example.com", "pool.changed"),
    ("pools resolve web", "pool.asked"),
    ("pools drain web 10.0.0.1:80", "backend.administered"),
    ("pools maintenance web 10.0.0.1:80", "backend.administered"),
    ("pools ready web 10.0.0.1:80", "backend.administered"),
    ("pools forget web", "pool.forgotten"),
    ("resolve svc.example.com", NOTHING),  # asks a nameserver and stores nothing
    ("queue create q", "queue.created"),
    ("queue list", NOTHING),
    ("queue pause q", "queue.paused"),
    ("queue resume q", "queue.resumed"),
    (DELAYED, "job.pushed"),
    ("queued_jobs list", NOTHING),
    ("queued_jobs show {job}", NOTHING),
    ("queued_jobs pause {job}", "job.paused"),
    ("queued_jobs resume {job}", "job.resumed"),
    ("queued_jobs reschedule {job} --repeat-delay 2h", "job.rescheduled"),
    ("queued_jobs run-now {job}", "job.run_now"),
    ("queued_jobs abort {job}", "job.aborted"),
    ("queued_jobs retry {job}", "job.reset"),
    ("queued_jobs delete {job}", "job.deleted"),
    ("operations start retry --query queue:q", "operation.started"),
    ("operations list", NOTHING),
    ("operations show {operation}", NOTHING),
    ("operations abort {operation}", "operation.aborted"),
    ("queue delete q", "queue.deleted"),
    ("service folders", NOTHING),
    ("service list", NOTHING),
    ("service install probe /p", "service.installed"),
    ("service upgrade probe /p", "service.upgraded"),
    ("service replace probe /p", "service.replaced"),
    ("service configure /p {}", "service.configured"),
    ("service development /p on", "service.development"),
    ("service uninstall /p", "service.uninstalled"),
    ("script /probe act", "script.ran"),
    ("script /probe act --dry-run", "script.dry_ran"),
    ("doctor", NOTHING),
    ("verify", NOTHING),
    ("seed_demo --force", "demo.made"),
]
# These run until they are stopped and record events while they run.
PROCESSES = {"load_test", "run_curator", "up", "web", "worker"}
