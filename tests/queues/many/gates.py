"""Jobs that run until a test lets them end."""

import os


class Gates:
    """push(queue, name, …) pushes, begun(name, …) waits for their starts, open(name, …) ends."""

    def __init__(self, folder, wait_until, mount="/probe", script="wait"):
        self._folder = folder
        self._wait_until = wait_until
        self._script = {"mount": mount, "name": script}

    def push(self, queue, *names, **options):
        return [queue.get(queue.push(self._script, self.order(n), **options)) for n in names]

    def order(self, name):
        return {"started": self._path(name), "go": self._path(name, "go")}

    def begun(self, *names):
        self._wait_until(lambda: all(os.path.exists(self._path(name)) for name in names))

    def open(self, *names):
        for name in names:
            open(self._path(name, "go"), "w").close()

    def _path(self, name, kind="started"):
        return str(self._folder / f"{name}.{kind}")
