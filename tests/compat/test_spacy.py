"""The real spaCy and its small English pipeline: some 20 packages, 200 MB."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_environment import homes, needs, run_suite

pytestmark = needs("spacy")


@pytest.mark.parametrize("home", homes("spacy"), ids=lambda home: home.name)
def test_the_suite_passes(home: Path) -> None:
    run_suite(home, "spacy_suite.py", "UserWarning")
