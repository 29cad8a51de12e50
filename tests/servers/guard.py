"""Kill a server, by a shell of its own, when the process that started it is gone."""

import subprocess

# It reads one process group per line. Its input ends when the owner ends, however that died. It
# removes the directory, too, because a killed owner cannot.
SCRIPT = """
trap '' INT TERM HUP
while read -r group; do last=$group; done
[ -z "$last" ] || kill -s "$1" -- "-$last" 2>/dev/null
tries=100
while [ -n "$last" ] && [ $tries -gt 0 ] && kill -0 -- "-$last" 2>/dev/null; do
    tries=$((tries - 1))
    sleep 0.05
done
rm -rf "$2"
"""


class Guard:
    def __init__(self, directory, signal="KILL"):
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT, "guard", signal, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def watch(self, process):
        """Kill this process and its group, instead of an earlier one, when the owner is gone."""
        self._tell(str(process.pid))

    def forget(self):
        self._tell("")

    def close(self):
        """Remove the directory, and kill what is still watched."""
        self._shell.stdin.close()
        self._shell.wait()

    def _tell(self, line):
        self._shell.stdin.write(line.encode() + b"\n")
        self._shell.stdin.flush()
