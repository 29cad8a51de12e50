"""Count, with progress and log lines that appear on the job's page."""

import time


def run(context):
    (order,) = context.argv or [{}]
    last = order.get("to", 10)
    for number in range(1, last + 1):
        time.sleep(order.get("pause_ms", 500) / 1000)
        context.progress(100 * number / last, f"{number} of {last}")
        context.log(f"counted {number}")
    return last
