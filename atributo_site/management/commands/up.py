"""Run everything on one machine in the foreground; `make run` calls this."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command

from atributo_site.commands import EXIT_USAGE, AtributoCommand
from atributo_site.config.env_file import source_of
from atributo_site.config.places import env_file
from atributo_site.config.state_folder import check_writable
from atributo_site.core.presence import beating
from atributo_site.core.text import runnable
from atributo_site.demo.ports import permits
from atributo_site.status.redis import redis_health
from atributo_site.supervisor import processes, startup
from atributo_site.supervisor.health_check import Question
from atributo_site.supervisor.ports import listen_or_offer
from atributo_site.supervisor.preparation import in_a_child
from atributo_site.supervisor.startup import Claim, not_up
from atributo_site.supervisor.supervisor import Report, Supervisor
from atributo_site.supervisor.watchdog import Watchdog

UP_SECONDS = 60


class Command(AtributoCommand):
    has_json = False
    help = "Run the web server, the workers, the curator and, if it is ours, Valkey."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--no-demo", action="store_true", help="Make no demo content.")
        parser.add_argument("--check", action="store_true", help="Stop as soon as all is up.")

    def perform(self, *, no_demo: bool, check: bool, **options: Any) -> None:
        env = settings.ATRIBUTO
        if env.is_hosted:
            reason = "up runs a site of its own; here your server serves the console"
            advice = "Run `manage.py worker` and `manage.py run_curator` beside it."
            raise CommandError(f"{reason}. {advice}", returncode=EXIT_USAGE)
        if env.worker_id != "auto":  # the second process to make an id would be refused
            reason = (
                f"ATRIBUTO_WORKER_ID={env.worker_id} numbers one process, and this starts several"
            )
            raise CommandError(f"{reason}: leave it at auto.", returncode=EXIT_USAGE)
        check_writable(settings.VAR_DIR)
        claim = Claim(settings.VAR_DIR)
        named = source_of("ATRIBUTO_PORT", os.environ, env_file()) != "default"
        listener, remark = listen_or_offer(env.host, env.port, insist=named)
        port = listener.getsockname()[1]
        address = f"http://{env.host if ':' not in env.host else f'[{env.host}]'}:{port}"
        claim.note(address=address)
        self._say(remark)

        valkey = processes.valkey()
        self.site = [processes.web(listener.fileno()), *processes.workers(), processes.curator()]
        self.watchdog = Watchdog(self.site[0], partial(Question, env.host, port), self._say)
        groups = [self.site, [valkey] if valkey else []]
        self.supervisor = Supervisor(groups, self._died, [self.watchdog])
        self.report = Report(self.supervisor.children)
        self.supervisor.listen_for_signals()
        try:
            self._bring_up(valkey, demo=env.demo and not no_demo, address=address)
            if not check:
                with beating(self.report.presence, self.report.step):
                    self.supervisor.run()
        finally:
            self._say("Stopping …")
            self.supervisor.stop()
        self._say("Stopped.")

    def _bring_up(self, valkey: Any, *, demo: bool, address: str) -> None:
        if valkey:
            self._start_valkey(valkey)
        made, port = in_a_child(partial(self._prepare, demo))
        login = _how_to_log_in(made)
        if port:
            self._add_demo_network(port)
        self.supervisor.start()
        if self.supervisor.watch_until(lambda: self.watchdog.has_answered, UP_SECONDS):
            self._say(f"\nAtributo runs at {address}\n{login}\n{self._where_things_are()}")
            self.say_what_is_degraded()
        elif not self.supervisor.stopping:
            raise not_up("the web server", self.site[0].log_path)

    def _add_demo_network(self, port: int) -> None:
        """Let the demo's names be found: all children may ask its name server."""
        env = settings.ATRIBUTO
        os.environ.update(permits(port, env.dns_server_networks, env.dns_target_networks))
        child = processes.demo_network(port)
        self.supervisor.groups[0].append(child)
        self.report.children.append(child)

    def _start_valkey(self, valkey: Any) -> None:
        valkey.start(0.0)
        if not self.supervisor.watch_until(lambda: redis_health().state == "ok", UP_SECONDS):
            raise not_up("Valkey", valkey.log_path)

    def _prepare(self, demo: bool) -> tuple[tuple[str, str] | None, int | None]:
        """Make tables, static files and the first administrator.

        Return their name and password, and the port of the demo's name server if there is a demo.
        """
        if startup.migrate():
            self._say("The tables are up to date.")
        if startup.collect_static():
            self._say("The static files are collected.")
        made = startup.first_administrator()
        if made and demo:
            call_command("seed_demo", stdout=self.stdout)
        return made, _demo_port() if demo else None

    def say_what_is_degraded(self) -> None:
        """Report a wrong REDIS_URL: it stops nothing and would not be noticed here otherwise."""
        health = redis_health()
        if health.state != "ok":
            self._say(f"Degraded: {health.detail}")

    def _died(self, child: Any) -> None:
        self._say(f"{child.name} ended ({child.last_exit}); starting it again.")
        self.report.died(child)

    def _where_things_are(self) -> str:
        log = Path(os.path.relpath(settings.VAR_DIR / "log"))
        stop = f"Ctrl-C stops everything. Logs are in {log}/."
        return f"{stop}\nCommands, from any folder: {runnable('manage.py help')}"

    def _say(self, text: str) -> None:
        """Print it; nothing stops because the file that gets it is on a full disk."""
        if text:
            with suppress(OSError):
                self.stdout.write(text)
                self.stdout.flush()


def _demo_port() -> int | None:
    from atributo_site.demo import pools  # only the child that prepares needs it

    return pools.network_port() if pools.is_here() else None


def _how_to_log_in(made: tuple[str, str] | None) -> str:
    if made is None:
        command = runnable("manage.py changepassword NAME")
        return f"Log in as before; `{command}` sets a new password."
    name, password = made
    if settings.ATRIBUTO.admin_password:
        return f"Log in as {name} with the password of ATRIBUTO_ADMIN_PASSWORD."
    return f"Log in as {name} with the password {password} (shown only this once)."
