"""What `run_curator` runs for this room."""

from allocation.repair import Repair
from allocation.transactions.curate import (
    BATCH,
    RETENTION_BATCH,
    expired_transactions,
    orphaned_locks,
    retention,
)
from allocation.transactions.old_versions import OldVersions

REPAIRS = [
    Repair("expired transactions", expired_transactions, every_seconds=0.25, budget=BATCH),
    Repair("orphaned locks", orphaned_locks, budget=BATCH),
    Repair("old transactions", retention, every_seconds=60, budget=RETENTION_BATCH),
    Repair("old versions", OldVersions(), every_seconds=5),
]
