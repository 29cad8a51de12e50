"""Measure GET requests per second on one loopback server: `get.py NAME SECONDS URL`."""

import json
import sys
import time


def ours(url):
    from pools import HttpAgent

    recovery = {"default": {"timeout": 1000, "retries": 3, "delay": 100}}
    agent = HttpAgent(spares=1, maximum=10, recovery=recovery)
    return "this tree", lambda: agent.request("GET", url).data


def requests(url):
    import requests

    session = requests.Session()
    return requests.__version__, lambda: session.get(url).content


def requests_with_agent(url):
    import requests

    from pools import HttpAgent, agent_adapter

    recovery = {"default": {"timeout": 1000, "retries": 3, "delay": 100}}
    session = requests.Session()
    agent = HttpAgent(spares=1, maximum=10, recovery=recovery)
    session.mount("http://", agent_adapter(agent))
    return requests.__version__, lambda: session.get(url).content


def urllib3(url):
    import urllib3

    pool = urllib3.PoolManager(maxsize=10)
    return urllib3.__version__, lambda: pool.request("GET", url).data


if __name__ == "__main__":
    name, seconds, url = sys.argv[1:]
    version, once = globals()[name](url)
    for _ in range(50):
        assert len(once()) == 100
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < float(seconds):
        once()
        count += 1
    rate = count / (time.perf_counter() - began)
    print(json.dumps({"version": version, "per_second": rate}))
