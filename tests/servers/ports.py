"""Choose a port that nobody uses and the system gives to nobody; stop listening at one."""

import os
import random
import socket
from contextlib import suppress

# Below the ports that the system gives to clients that connect or bind to port 0.
PORTS = range(20_000, 32_000)
SHARES = 16  # of processes that run tests beside each other, each with ports of its own
OWN = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % SHARES
TRIES = 500

chance = random.SystemRandom()  # no two processes draw alike


def free_port(host="127.0.0.1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in chance.sample(PORTS[OWN::SHARES], TRIES):
        with socket.socket(family) as end, suppress(OSError):
            end.bind((host, port))
            return port
    raise OSError(f"none of {TRIES} ports of {host} is free")


def stop_listening(listener, thread):
    """Let the thread that accepts end before the listener is closed.

    Otherwise it may accept once more on the same descriptor, which is another listener's by then.
    """
    listener.shutdown(socket.SHUT_RDWR)  # `accept` fails
    thread.join()
    listener.close()
