"""The recipes name commands, settings, files and addresses that exist, and give no rights away."""

import re
import shutil
import subprocess

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from queues.worker.run_monitor import STOP_SECONDS
from tests.deploy import recipes

LINES = [
    pytest.param(words, id=f"{recipe}: {' '.join(words)}")
    for recipe, lines in recipes.command_lines().items()
    for words in lines
]
ID = "10001"


@pytest.mark.parametrize("words", LINES)
def test_every_command_line_is_understood(words):
    name, *options = words
    assert name in get_commands(), name
    command = load_command_class(get_commands()[name], name)
    command.create_parser("atributo", name).parse_args(options)


def test_every_recipe_starts_every_kind_of_process():
    lines = recipes.command_lines()
    wanted = {"migrate", "collectstatic", "web", "worker", "run_curator"}
    for recipe in ("compose", "kubernetes", "systemd"):
        assert {words[0] for words in lines[recipe]} == wanted, recipe


def test_every_setting_is_one():
    texts = [path.read_text() for path in recipes.DEPLOY.rglob("*") if path.is_file()]
    named = {name for text in texts for name in re.findall(r"\bATRIBUTO_[A-Z_]+", text)}
    known = set(re.findall(r"ATRIBUTO_[A-Z_]+", (recipes.ROOT / ".env.example").read_text()))
    assert named - known - {"ATRIBUTO_IMAGE"} == set()


def test_the_image_runs_as_nobody_special_from_wheel_and_lock():
    steps = recipes.dockerfile()
    assert steps["ARG"][0].startswith("BASE=") and steps["FROM"] == ["${BASE} AS build", "${BASE}"]
    assert f"UID={ID}" in steps["ARG"] and steps["USER"] == ["${UID}:${UID}"]
    assert "--require-hashes -r /build/requirements.txt" in " ".join(steps["RUN"])
    assert [line.split()[0] for line in steps["COPY"]] == [
        "requirements.txt",
        "dist/atributo-*.whl",
        "--from=build",
    ]
    assert steps["STOPSIGNAL"] == ["SIGTERM"] and steps["ENTRYPOINT"] == ['["atributo"]']
    ignored = (recipes.ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[1:] == ["*", "!dist", "!requirements.txt"]


def test_the_health_check_asks_an_address_that_answers_without_a_log_in():
    (check,) = recipes.dockerfile()["HEALTHCHECK"]
    path = re.search(r"http://127\.0\.0\.1:8000(/\w+)", check)[1]
    assert resolve(path).url_name == "healthz"
    code = re.search(r'"-c", "(.*?)"\]', check)[1]
    compile(code, "healthcheck", "exec")


def test_compose_has_the_processes_that_a_site_needs():
    services = recipes.compose()["services"]
    assert set(services) == {
        "postgresql", "valkey", "migrate", "static", "web", "worker", "curator",
    }  # fmt: skip
    assert {name: services[name]["deploy"]["replicas"] for name in ("worker", "curator")} == {
        "worker": 2,
        "curator": 2,
    }
    for each in services.values():
        assert set(each.get("depends_on", {})) <= set(services)
        named = {volume.partition(":")[0] for volume in each.get("volumes", [])}
        assert {name for name in named if name[0] != "."} <= set(recipes.compose()["volumes"])


@pytest.mark.parametrize("name", recipes.own_services())
def test_a_service_of_compose_has_no_rights_that_it_does_not_need(name):
    service = recipes.own_services()[name]
    assert service["user"] == f"{ID}:{ID}" and service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["stop_signal"] == "SIGTERM"
    assert int(service["stop_grace_period"].removesuffix("s")) > STOP_SECONDS
    is_checked = not service.get("healthcheck", {}).get("disable", False)
    assert is_checked == (name == "web")


@pytest.mark.parametrize("container", recipes.containers(), ids=lambda each: each["name"])
def test_a_container_has_no_rights_that_it_does_not_need(container):
    rights = container["securityContext"]
    assert rights["allowPrivilegeEscalation"] is False and rights["readOnlyRootFilesystem"] is True
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["requests"] and container["resources"]["limits"]["memory"]
    assert (
        container["image"] == "atributo"
        and "env" not in container
        or all("valueFrom" in each for each in container["env"])
    )
    assert {"secretRef": {"name": "atributo"}} in container["envFrom"]


@pytest.mark.parametrize("name", recipes.pods())
def test_a_pod_is_somebody_without_rights_and_has_time_to_stop(name):
    pod = recipes.pods()[name]
    spec = pod["spec"]
    rights = spec["securityContext"]
    assert rights["runAsNonRoot"] is True and str(rights["runAsUser"]) == ID
    assert rights["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    if name != "migrate":
        assert spec["terminationGracePeriodSeconds"] > STOP_SECONDS
    volumes = {volume["name"] for volume in spec["volumes"]}
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        paths = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert paths == {"/var/lib/atributo", "/tmp"}  # noqa: S108 # of the container


def test_probes_ask_the_addresses_of_probes():
    (web,) = recipes.pods()["web"]["spec"]["containers"]
    asked = {
        name: resolve(web[name]["httpGet"]["path"]).url_name
        for name in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert asked == {
        "startupProbe": "healthz",
        "livenessProbe": "healthz",
        "readinessProbe": "readyz",
    }


def test_selectors_find_the_pods_that_they_mean():
    labels = {name: pod["metadata"]["labels"] for name, pod in recipes.pods().items()}
    for each in recipes.manifests():
        selector = each.get("spec", {}).get("selector") or {}
        wanted = selector.get("matchLabels", selector)
        if wanted:
            name = wanted["app.kubernetes.io/component"]
            assert labels[name] == wanted, each["metadata"]["name"]


def test_every_process_that_stays_has_a_budget_and_a_careful_update():
    every = recipes.manifests()
    staying = {each["metadata"]["name"] for each in every if each["kind"] in STAYING}
    budgets = {each["metadata"]["name"] for each in every if each["kind"] == "PodDisruptionBudget"}
    assert staying == budgets == {"web", "worker", "sticky-worker", "curator"}
    for each in (each for each in every if each["kind"] in STAYING):
        update = each["spec"].get("strategy") or each["spec"]["updateStrategy"]
        assert update["type"] == "RollingUpdate" and each["spec"]["replicas"] >= 2


STAYING = {"Deployment", "StatefulSet"}


def test_nothing_comes_in_but_requests_to_the_web_server():
    policies = [each for each in recipes.manifests() if each["kind"] == "NetworkPolicy"]
    inward = [each["spec"] for each in policies if "Ingress" in each["spec"]["policyTypes"]]
    assert [spec for spec in inward if spec["podSelector"] == {} and "ingress" not in spec]
    opened = [port["port"] for spec in inward for rule in spec.get("ingress", [])
              for port in rule["ports"]]  # fmt: skip
    assert opened == [8000]


def test_every_manifest_is_applied_but_the_example_of_the_secret():
    folder = recipes.DEPLOY / "kubernetes"
    listed = re.findall(r"^  - ([\w.-]+\.yaml)$", (folder / "kustomization.yaml").read_text(), re.M)
    others = {"kustomization.yaml", "secret.example.yaml"}
    assert set(listed) == {path.name for path in folder.iterdir()} - others


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
def test_kustomize_builds_the_folder():
    folder = str(recipes.DEPLOY / "kubernetes")
    done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "image: registry.example/atributo:1.0.0" in done.stdout
    assert done.stdout.count("namespace: atributo") > 10 and "kind: Secret" not in done.stdout


@pytest.mark.parametrize("path", recipes.UNITS, ids=lambda path: path.name)
def test_a_unit_has_no_rights_that_it_does_not_need(path):
    unit = recipes.unit(path)
    assert unit["User"] == ["atributo"] and unit["NoNewPrivileges"] == ["yes"]
    assert unit["ProtectSystem"] == ["strict"] and unit["StateDirectory"] == ["atributo"]
    assert unit["CapabilityBoundingSet"] == [""]
    stop = unit.get("TimeoutStopSec", ["90"])[0]
    assert int(stop) > STOP_SECONDS


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_understands_the_units(tmp_path):
    program = tmp_path / "atributo"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for path in (recipes.DEPLOY / "systemd").iterdir():
        (tmp_path / path.name).write_text(path.read_text().replace(recipes.PROGRAM, str(program)))
    names = [path.name.replace("@.", "@1.") for path in recipes.UNITS]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *[str(tmp_path / name) for name in names]],
        capture_output=True,
        text=True,
        env={"SYSTEMD_UNIT_PATH": f"{tmp_path}:", "PATH": "/usr/bin:/bin"},
    )
    said = [
        line for line in done.stderr.splitlines() if str(tmp_path) in line or "atributo" in line
    ]
    assert said == []
