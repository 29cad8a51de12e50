"""Jobs that run until a test lets them end."""

import os

import psutil


def kill_with_scripts(worker, wait_until):
    """Kill a worker, and wait until the processes in which its scripts run are gone, too."""
    processes = psutil.Process(worker.pid).children(recursive=True)
    worker.kill()
    wait_until(lambda: all(map(_is_gone, processes)))


def _is_gone(process):
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


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
