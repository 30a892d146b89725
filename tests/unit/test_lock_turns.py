"""Work that waits for a lock lets others have their turn, so that its holder can have one."""

from __future__ import annotations

import asyncio

from remembrancer.nouns.turns import alone, let_others, pausing


def test_who_waits_for_a_lock_lets_its_holder_go_on() -> None:
    place, told = asyncio.Lock(), []  # one place for all

    async def pause() -> None:
        place.release()
        await asyncio.sleep(0)
        await place.acquire()

    async def one(number: int, lock: asyncio.Lock) -> None:
        await place.acquire()
        with pausing(pause):
            async with alone(lock):
                for _ in range(3):
                    told.append(number)
                    await let_others()
        place.release()

    async def main() -> None:
        lock = asyncio.Lock()
        async with asyncio.timeout(20):
            await asyncio.gather(*(one(number, lock) for number in range(5)))

    asyncio.run(main())
    assert sorted(told[::3]) == list(range(5))
    assert all(len(set(told[n : n + 3])) == 1 for n in range(0, 15, 3))
