"""The files under deploy/ say what this version understands."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from remembrancer.faces.cli.main import app
from remembrancer.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
OURS = [
    DEPLOY / "Dockerfile",
    DEPLOY / "compose.yaml",
    DEPLOY / "remembrancer.service",
    *KUBERNETES,
]
PROBES = {"/health/live", "/health/ready"}
VARIABLE = re.compile(r"\bREMEMBRANCER_([A-Z_]+)")


def manifests() -> Iterator[dict[str, Any]]:
    for path in KUBERNETES:
        yield from yaml.safe_load_all(path.read_text())


def containers() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each container with the pod that it is of."""
    for each in manifests():
        if each["kind"] == "Deployment":
            pod = each["spec"]["template"]["spec"]
            for container in (*pod.get("initContainers", ()), *pod["containers"]):
                yield pod, container


def understood(arguments: list[str]) -> bool:
    """Tell whether the command line takes these."""
    commands = get_command(app).commands  # type: ignore[attr-defined]
    command = commands[arguments[0]]
    options = {name for param in command.params for name in param.opts}
    return all(each in options for each in arguments[1:] if each.startswith("--"))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_each_variable_is_a_setting(path: Path) -> None:
    named = {name.lower() for name in VARIABLE.findall(path.read_text())}
    assert named <= Settings.model_fields.keys()


def test_the_image_runs_as_nobody_and_says_how_it_is() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    lines = re.sub(r"\\\n", " ", text).splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    by_word = dict(words)
    assert by_word["USER"] == "10001:10001"
    assert by_word["ENTRYPOINT"] == '["remembrancer"]'
    assert any(path in by_word["HEALTHCHECK"] for path in PROBES)
    assert by_word["EXPOSE"].split() == ["6381", "6380"]
    assert (ROOT / "requirements/core.txt").exists()
    kept = (ROOT / ".dockerignore").read_text()
    assert all(f"!{name}" in kept for name in ("requirements/core.txt", "dist/*.whl"))


def test_the_image_has_the_locked_psycopg() -> None:
    pinned = re.search(r'"psycopg\[binary\]==(\S+)"', (DEPLOY / "Dockerfile").read_text())
    assert pinned
    assert f"\npsycopg=={pinned[1]}" in (ROOT / "requirements/dev.txt").read_text()


def test_compose_runs_two_servers_and_a_worker_once_the_schema_is_there() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services["server"]["deploy"]["replicas"] == 2
    for name in ("migrate", "server", "worker"):
        assert understood(services[name]["command"])
        assert services[name]["image"] == "remembrancer"
        assert "REMEMBRANCER_STORE" in services[name]["environment"]
    for name in ("server", "worker"):
        waits = services[name]["depends_on"]["migrate"]["condition"]
        assert waits == "service_completed_successfully"


def test_kubernetes_runs_what_the_image_has() -> None:
    found = list(containers())
    assert len(found) == 3
    for pod, container in found:
        assert understood(container["args"])
        assert pod["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe in container:
                assert container[probe]["httpGet"]["path"] in PROBES


def test_kubernetes_waits_longer_than_a_server_drains() -> None:
    for pod, container in containers():
        values = {each["name"]: each.get("value") for each in container["env"]}
        drain = float(values.get("REMEMBRANCER_DRAIN_S") or 0)
        assert pod["terminationGracePeriodSeconds"] > drain + 25


def test_the_service_leads_to_ports_of_the_servers() -> None:
    by_kind = {each["kind"]: each for each in manifests()}
    [server] = [c for _, c in containers() if c["name"] == "server"]
    ports = {port["name"] for port in server["ports"]}
    assert {port["targetPort"] for port in by_kind["Service"]["spec"]["ports"]} == ports
    resources = by_kind["Kustomization"]["resources"]
    assert {path.name for path in KUBERNETES} == {*resources, "kustomization.yaml"}


def test_the_unit_serves_into_its_own_folder() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "remembrancer.service")
    service = unit["Service"]
    assert understood(service["ExecStart"].split()[1:])
    assert service["Environment"] == f"REMEMBRANCER_DATA=/var/lib/{service['StateDirectory']}"
    assert service["DynamicUser"] == "yes"
