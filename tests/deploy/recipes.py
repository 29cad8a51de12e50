"""Read the recipes of deploy/ as values."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PROGRAM = "/opt/atributo/bin/atributo"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


def dockerfile() -> dict[str, list[str]]:
    """Return the arguments of each instruction, with continued lines joined."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    found: dict[str, list[str]] = {}
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line:
            word, _, rest = line.partition(" ")
            found.setdefault(word, []).append(rest)
    return found


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def own_services() -> dict[str, Any]:
    """Return the services of the compose file that run our image."""
    every = compose()["services"]
    return {name: each for name, each in every.items() if "atributo" in each["image"]}


def manifests() -> list[dict[str, Any]]:
    files = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    kinds = [each for file in files for each in yaml.safe_load_all(file.read_text())]
    return [each for each in kinds if each["kind"] != "Kustomization"]


def pods() -> dict[str, dict[str, Any]]:
    """Return the specification of each kind of pod by the name of what makes it."""
    return {
        each["metadata"]["name"]: each["spec"]["template"]
        for each in manifests()
        if "template" in each.get("spec", {})
    }


def containers() -> list[dict[str, Any]]:
    specs = [pod["spec"] for pod in pods().values()]
    return [
        each for spec in specs for each in [*spec.get("initContainers", []), *spec["containers"]]
    ]


def unit(path: Path) -> dict[str, list[str]]:
    """Return the values of each name in a unit file."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", path.read_text(), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def command_lines() -> dict[str, list[list[str]]]:
    """Return the words after `atributo` of every command line, by recipe."""
    started = [line for path in UNITS for line in unit(path)["ExecStart"]]
    return {
        "Dockerfile": [json.loads(line) for line in dockerfile()["CMD"]],
        "compose": [each["command"] for each in own_services().values()],
        "kubernetes": [each["args"] for each in containers()],
        "before a stop": [shlex.split(line)[1:] for line in before_a_stop().values()],
        "systemd": [shlex.split(line)[1:] for line in started],
    }


def before_a_stop() -> dict[str, str]:
    """Return what a pod runs before it is told to stop, as a line for the shell, if it is ours."""
    found = {}
    for name, pod in pods().items():
        for container in pod["spec"]["containers"]:
            words = container.get("lifecycle", {}).get("preStop", {}).get("exec", {})
            if words.get("command", [""])[0] == "sh":
                found[name] = words["command"][2]
    return found
