"""The server keeps to its own schema, whatever it is sent: generated requests, fixed seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from wire_kit import Server

EXAMPLES = 20  # of each operation and mode; `make prove` draws ten times as many
PARTS = 3  # that processes of the tests take apart from each other
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: generated banks would crowd the others' lists."""
    with Server(tmp_path_factory.mktemp("fuzzed")) as running:
        yield running


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_answers_conform(fuzzed: Server, mode: GenerationMode, part: int, prove: int) -> None:
    schema = schemathesis.openapi.from_url(f"{fuzzed.url}/openapi.json")
    operations = list(schema.get_all_operations())
    labels = {found.ok().label for found in operations if isinstance(found, Ok)}
    assert {"POST /v1/prime", "POST /v1/default/banks/{bank_id}/memories"} <= labels
    for found in operations[part::PARTS]:
        assert isinstance(found, Ok), found
        operation = found.ok()
        if _streams(operation):
            continue  # an answer without end; these have tests of their own
        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query):
            continue  # nothing that could be wrong

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=EXAMPLES * prove,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def answers_conform(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        answers_conform()


def _streams(operation: Any) -> bool:
    answers = operation.definition.raw["responses"]
    return "text/event-stream" in answers.get("200", {}).get("content", {})
