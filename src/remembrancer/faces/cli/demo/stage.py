"""The demo from top to bottom: plays each part, then shows it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from ....app import App
from ....nouns.errors import NotFound
from ....settings import Settings
from ..output import progress_bar, results, warnings_as_lines
from . import show
from .clock import StartedClock
from .play import Player
from .restart import Restart
from .script import load

_EMBEDDER = "bge-small"


def perform(folder: Path) -> None:
    """Run the demo in a folder."""
    with warnings_as_lines():
        asyncio.run(_perform(folder))


async def _perform(folder: Path) -> None:
    out = results()
    script = load()
    show.opening(out, script)
    settings = Settings(data=folder, store=None, embedder=_EMBEDDER)
    restart = Restart(folder, _EMBEDDER)
    clock = StartedClock(script.clock)
    app = await App.open(settings, clock=clock, background=False)
    try:
        player = Player(app, script)
        with progress_bar("retaining") as progress:
            kept = await player.retain(progress)
        show.kept(out, kept)
        told = await restart.tell()
        show.told(out, told)
        show.heading_recall(out)
        questions = []
        for question in script.questions:
            questions.append(await player.ask(question))
            show.asked(out, questions[-1])
        context = await player.prime()
        show.primed(out, script.cue, context)
        show.intended(out, script, kept)
        clock.jump(script.due - timedelta(seconds=1))
        early = await player.check()
        clock.jump(script.due)
        due = await player.check()
        source = await player.said(due[0].intention.source_id if due else None)
        show.reminded(out, script, early, due, source)
        show.brought_up(out, script.talk, await player.check(script.talk))
        show.heard(out, await restart.hear())
        secret = await player.ask(script.secret_question, limit=1)
        if not secret.answers:
            raise NotFound("the demo found nothing to forget")
        show.forgotten(out, secret, await player.forget(secret.answers[0], folder))
        show.summary(out, kept, questions, context)
        show.onward(out)
    finally:
        await restart.close()
        await app.close()
