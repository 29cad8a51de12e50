"""Run a real nginx as a private process, with the block that the docs print."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.servers.ports import free_port
from tests.servers.waiting import wait_until

ROOT = Path(__file__).parents[2]
CERTIFICATE = ROOT / "tests" / "data" / "svc.example.pem"
FRAME = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {block}
}}
"""


class Nginx:
    """End TLS in front of a web server; only ports and the certificate differ from the docs."""

    def __init__(self, folder: Path, web_port: int) -> None:
        self.port, plain_port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.plain_url = f"http://127.0.0.1:{plain_port}"
        block = printed_block()
        for printed, ours in {
            "listen 80;": f"listen 127.0.0.1:{plain_port};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "/etc/ssl/atributo/fullchain.pem": str(CERTIFICATE),
            "/etc/ssl/atributo/privkey.pem": str(CERTIFICATE),
            "http://127.0.0.1:8000": f"http://127.0.0.1:{web_port}",
        }.items():
            assert printed in block, f"the docs print no {printed}"
            block = block.replace(printed, ours)
        folder.mkdir()
        file = folder / "nginx.conf"
        file.write_text(FRAME.format(folder=folder, block=block))
        self.errors = folder / "error.log"
        self._process = subprocess.Popen([binary(), "-p", str(folder), "-c", str(file)])
        wait_until(lambda: (folder / "nginx.pid").exists(), 60)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)


def printed_block() -> str:
    """Return the indented block of docs/operations.md that is for nginx."""
    text = (ROOT / "docs" / "operations.md").read_text()
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE)
    (found,) = [block for block in blocks if "listen 443 ssl;" in block]
    return found


def binary() -> str:
    """Return Debian's nginx; root installs it where it is missing."""
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None and os.geteuid() == 0:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "nginx"], check=True)
        found = shutil.which("nginx", path="/usr/sbin")
    if found is None:
        raise RuntimeError("no nginx found, and what the docs print is tried with it: install it")
    return found
