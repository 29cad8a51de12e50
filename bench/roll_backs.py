"""Measure roll backs, large and small ones beside each other, and a hot key, on both databases.

    python -m bench.roll_backs sqlite       one database
    BENCH_KEYS=2000                         a quick look

It fails when a program rolls back fewer than 1,000 keys per second, when a real curator takes more
than 10 seconds for a transaction of 10,000 keys or lets a small one wait behind it for more than 2
seconds, when it ends fewer than 300 expired transactions per second, or when one of eight programs
that change the same key waits for it longer than 200 ms at the 99th percentile.
"""

import sys

from bench.parts.on_both import run_on_both

LONG_LIFE = {"ATRIBUTO_MAX_JOB_TIME_MS": "300000", "ATRIBUTO_MAX_JOB_LIMIT_MS": "600000"}

if __name__ == "__main__":
    sys.exit(run_on_both("roll_backs", sys.argv[1:], **LONG_LIFE))
