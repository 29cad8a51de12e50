"""Where Chromium is; `python -m tests.servers.chromium` installs it when root may."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
INSTALLERS = {
    "apt-get": "apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium",
    "dnf": "dnf install -y -q chromium",
    "apk": "apk add -q chromium",
    "pacman": "pacman -Sy --noconfirm --quiet chromium",
}
ADVICE = (
    "no Chromium found, and the tests must see the pages: install it (as root:"
    " apt-get install chromium), or set CHROMIUM to the path of Chromium or Chrome"
)


def find_chromium():
    """The browser that CHROMIUM names, else one of the system."""
    if named := os.environ.get("CHROMIUM"):
        if os.access(named, os.X_OK):
            return named
        raise RuntimeError(f"CHROMIUM={named} is not a program")
    for place in [*map(shutil.which, NAMES), MAC]:
        if place and os.access(place, os.X_OK):
            return place
    raise RuntimeError(ADVICE)


def main():
    try:
        find_chromium()
    except RuntimeError:
        install()
        try:
            find_chromium()
        except RuntimeError as error:
            sys.exit(str(error))


def install():
    """Install it by the system's package manager, where root has one that we know."""
    manager = next(filter(shutil.which, INSTALLERS), None)
    if os.geteuid() == 0 and manager and "CHROMIUM" not in os.environ:
        print(f"Installing Chromium: {INSTALLERS[manager]}", flush=True)
        subprocess.run(["/bin/sh", "-c", INSTALLERS[manager]], stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
