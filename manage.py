#!/usr/bin/env python
"""The terminal's door: `./manage.py help` lists every command."""

import sys

from atributo_site.__main__ import run

if __name__ == "__main__":
    sys.exit(run(sys.argv))
