"""`remembrancer encrypt`: seal what a store was told before encryption was switched on."""

from __future__ import annotations

import time

from .options import AsJson, Data, StoreUrl, examples, settings_of
from .output import progress_bar, results, write_json
from .session import must_exist

NAME = "encrypt"
EPILOG = examples(
    "REMEMBRANCER_ENCRYPTION_KEY_FILE=/etc/remembrancer/key remembrancer encrypt --data ./data",
    "remembrancer encrypt --store postgresql://me@db/memory",
    json="{sealed, seconds}",
)


def command(data: Data = None, store: StoreUrl = None, json: AsJson = False) -> None:
    """Seal what is still plain, with the key that is set, and wipe the plain bytes from the files.

    Stop what runs without the key first. Stopped half-way, the next run goes on where it was.
    Backups that were made before stay plain.
    """
    settings = settings_of(data, store)
    must_exist(settings)
    import asyncio  # noqa: PLC0415

    from ...keeping.opening import seal_store  # noqa: PLC0415

    started = time.perf_counter()
    with progress_bar("rows looked at") as progress:
        sealed = asyncio.run(seal_store(settings, progress))
    seconds = time.perf_counter() - started
    if json:
        write_json({"sealed": sealed, "seconds": seconds})
    else:
        results().print(
            f"sealed {sealed:,} rows in {seconds:.2f} s; nothing is left to seal", soft_wrap=True
        )
