"""`python -m queues.worker.launch SOCKET TOKENS BYTES`: a child of a process that must not fork."""

import os
import socket
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    django.setup()
    from queues.worker.child import become_child  # needs the models

    wire, tokens, memory = (int(argument) for argument in sys.argv[1:4])
    become_child(socket.socket(fileno=wire), tokens, memory)


if __name__ == "__main__":
    main()
