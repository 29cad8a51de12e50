"""Start the child of a process that must not fork.

`python -m queues.children.launch SOCKET TOKENS READ WRITE BYTES`; READ and WRITE are its
output pipe.
"""

import os
import socket
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    django.setup()
    from queues.children.child import become_child  # needs the models

    wire, tokens, read, write, memory = (int(argument) for argument in sys.argv[1:6])
    become_child(socket.socket(fileno=wire), tokens, (read, write), memory)


if __name__ == "__main__":
    main()
