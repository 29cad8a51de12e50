"""Do what every contestant is asked for: `PART fill N MARKS`, `PART many N`, `PART single N`."""

import sys
import time


def main(part):
    doing, count = sys.argv[1], int(sys.argv[2])
    if doing in {"many", "single"}:
        part.one()  # opens the connection
    begun, cpu = time.perf_counter(), time.process_time()
    if doing == "fill":  # the marks around the jobs record when the first and the last ran
        part.marked(sys.argv[3])
        part.many(count)
        part.marked(sys.argv[3])
    elif doing == "many":
        part.many(count)
    elif doing == "single":
        for _ in range(count):
            part.one()
    elif doing == "slowly":  # the pushes' moments, for the delay until the start
        warm = int(sys.argv[4])
        for number in range(warm + count):
            pushed = time.time()
            part.marked(sys.argv[3])
            if number >= warm:
                print(pushed)
            time.sleep(0.03)
        return
    print(time.perf_counter() - begun, time.process_time() - cpu)
