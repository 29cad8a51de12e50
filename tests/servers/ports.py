"""A port that nobody uses at the moment."""

import socket


def free_port(host="127.0.0.1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as end:
        end.bind((host, 0))
        return end.getsockname()[1]
