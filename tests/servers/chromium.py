"""Find Chromium for the browser tests, or let the system install it when we are root.

`python -m tests.servers.chromium` is what `make test` runs before pytest.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
HOW = (
    "The tests need Chromium. Install it (Debian: apt-get install chromium, Fedora: dnf install\n"
    "chromium, macOS: brew install --cask chromium), or name a Chrome with CHROMIUM=/path/to/it."
)


def find() -> str | None:
    named = os.environ.get("CHROMIUM")
    if named:
        return named if os.access(named, os.X_OK) else None
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found or (MAC if os.access(MAC, os.X_OK) else None)


def install() -> None:
    if "CHROMIUM" in os.environ or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print("Installing Chromium with apt-get …", flush=True)
    quiet = {
        "stdout": subprocess.DEVNULL,
        "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    }
    subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
    subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False, **quiet)


def main() -> int:
    if find() is None:
        install()
    if find() is None:
        print(HOW, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
