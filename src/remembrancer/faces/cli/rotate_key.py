"""`remembrancer rotate-key`: wrap the data keys of a store by a new encryption key."""

from __future__ import annotations

from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import counted, results, write_json
from .session import must_exist

NAME = "rotate-key"
EPILOG = examples(
    'REMEMBRANCER_ENCRYPTION_KEY="$NEW,$OLD" remembrancer rotate-key --data ./data',
    json="{rewrapped}",
)


def command(data: Data = None, store: StoreUrl = None, json: AsJson = False) -> None:
    """Wrap the data key of each tenant by the newest key that is set; texts stay as they are.

    Set both keys, the newest first. Afterwards the old one opens backups alone.
    """
    settings = settings_of(data, store)
    must_exist(settings)
    import asyncio  # noqa: PLC0415

    from ...keeping.opening import rewrap_store  # noqa: PLC0415

    done = asyncio.run(rewrap_store(settings))
    if json:
        write_json({"rewrapped": done})
    else:
        results().print(f"{counted(done, 'data key')} wrapped by the newest key", soft_wrap=True)
