"""A worker process: consolidates what is queued until it is killed, or until its input ends."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from remembrancer.app import App
from remembrancer.settings import Settings

LEASE_S = 1.0


def settings(folder: Path) -> Settings:
    """What all processes of the proof use; the environment names the embedder and the model."""
    return Settings(data=folder, worker_lease_s=LEASE_S)


async def main(folder: Path) -> None:
    """Work until killed or told to end."""
    app = await App.open(settings(folder))
    print("working", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await app.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
