"""`remembrancer encryption-key`: make a key that texts are sealed with."""

from __future__ import annotations

import sys

from .options import AsJson, examples
from .output import remark, write_json

NAME = "encryption-key"
EPILOG = examples(
    "export REMEMBRANCER_ENCRYPTION_KEY=$(remembrancer encryption-key)",
    "remembrancer encryption-key > /etc/remembrancer/key",
    json="{key}",
)


def command(json: AsJson = False) -> None:
    """Make a key for encryption at rest and print it: 32 random bytes in base64.

    It is kept nowhere: without it nobody opens what is sealed with it.
    """
    from ...keeping.key_text import new_key  # noqa: PLC0415

    key = new_key()
    if json:
        write_json({"key": key})
        return
    sys.stdout.write(f"{key}\n")
    remark("keep it apart from the data: without it nothing of that can be read")
