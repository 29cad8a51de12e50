"""Measure GET requests per second on one loopback server: `get.py NAME SECONDS URL`."""

import json
import sys
import time


def ours(url):
    from pools import HttpAgent

    agent = HttpAgent(spares=1, maximum=10)
    return "this tree", lambda: agent.get(url).data


def requests(url):
    import requests

    session = requests.Session()
    return requests.__version__, lambda: session.get(url).content


def requests_with_agent(url):
    import requests

    from pools import HttpAgent, agent_adapter

    session = requests.Session()
    session.mount("http://", agent_adapter(HttpAgent(spares=1, maximum=10)))
    return requests.__version__, lambda: session.get(url).content


def urllib3(url):
    import urllib3

    pool = urllib3.PoolManager(maxsize=10)
    return urllib3.__version__, lambda: pool.request("GET", url).data


def httpx(url):
    import httpx

    client = httpx.Client()
    return httpx.__version__, lambda: client.get(url).content


if __name__ == "__main__":
    name, seconds, url = sys.argv[1:]
    version, once = globals()[name](url)
    for _ in range(50):
        assert len(once()) == 100
    count, began, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < float(seconds):
        once()
        count += 1
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    rates = {"per_second": count / took, "per_cpu_second": count / cpu}
    print(json.dumps({"version": version, **rates}))
