"""LlamaIndex's memory with our block: some 30 packages, 100 MB."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_environment import homes, needs, run_suite

pytestmark = needs("llama-index-core")


@pytest.mark.parametrize("home", homes("llama-index-core"), ids=lambda home: home.name)
def test_the_suite_passes(home: Path) -> None:
    # LlamaIndex leaves connections of its own store open.
    run_suite(home, "llamaindex_suite.py", "pytest.PytestUnraisableExceptionWarning")
