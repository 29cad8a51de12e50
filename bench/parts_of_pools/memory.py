"""Measure what 1,000 open connections cost: `memory.py NAME COUNT URL`."""

import json
import resource
import sys


def rss_kb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1024


def ours(url, count):
    from pools import HttpAgent

    agent = HttpAgent(spares=0, maximum=count, outliers=None)
    agent.get(url)
    before = rss_kb()
    return before, [agent.get(url, stream=True) for _ in range(count)]


def urllib3(url, count):
    import urllib3

    manager = urllib3.PoolManager(maxsize=count)
    manager.request("GET", url)
    before = rss_kb()
    return before, [manager.request("GET", url, preload_content=False) for _ in range(count)]


if __name__ == "__main__":
    name, count, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    before, held = globals()[name](url, count)
    assert len(held) == count
    print(json.dumps({"kb_per_connection": (rss_kb() - before) / count}))
