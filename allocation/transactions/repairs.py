"""What `run_curator` runs for this room."""

from allocation.repair import Repair
from allocation.transactions.curate import expired_transactions, orphaned_locks, retention
from allocation.transactions.old_versions import OldVersions

REPAIRS = [
    Repair("expired transactions", expired_transactions, every_seconds=0.25),
    Repair("orphaned locks", orphaned_locks, every_seconds=1.0),
    Repair("old transactions", retention, every_seconds=60.0),
    Repair("old versions", OldVersions(), every_seconds=5.0),
]
