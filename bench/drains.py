"""Measure a forced drain beside allocation, on PostgreSQL and SQLite.

    python -m bench.drains sqlite       one database
    BENCH_JOBS=10000                    a quick look

A real curator moves 100,000 job ids off an instance and then spreads them over eight new ones;
three of those are removed. Another process makes 100 allocations per second meanwhile. It fails
when one of the three takes more than 30 seconds of processor time, or when an allocation beside it
takes longer than a quarter of a second at the 99th percentile.
"""

import sys

from bench.parts.on_both import run_on_both

if __name__ == "__main__":
    sys.exit(run_on_both("drains", sys.argv[1:]))
