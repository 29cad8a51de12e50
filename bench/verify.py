"""Measure what `manage.py verify` costs on full tables, on PostgreSQL and SQLite.

    python -m bench.verify sqlite       one database
    BENCH_ROWS=200000                   larger tables

It fills documents, versions, journals, transactions, jobs, runs and allocations, and looks at all
rows, then at a sample. It fails when the whole look manages fewer than 5,000 rows per second, when
a sample takes more than five seconds, or when memory grows by more than 100 MB.
"""

import sys

from bench.parts.on_both import run_on_both

if __name__ == "__main__":
    sys.exit(run_on_both("verify", sys.argv[1:]))
