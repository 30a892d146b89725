"""Retains chats, asks their questions, and maps answers back to messages; with BM25 beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import remembrancer
from remembrancer.finding.stopwords import ENGLISH

from .bm25 import LUCENE_STOP, Bm25
from .datasets import Chat, Message, Session
from .metrics import KS, Case, Figures, distinct, percentile

ALL_TOKENS = 10_000_000  # a token budget that never cuts
SYSTEMS = ("", "bm25.", "bm25-longstop.")

Advance = Callable[[], None]


@dataclass(slots=True)
class Asked:
    """How long questions took, in milliseconds."""

    total_ms: list[float] = field(default_factory=list)
    embed_ms: list[float] = field(default_factory=list)

    def figures(self) -> Figures:
        """Return the medians, with and without embedding."""
        without = [t - e for t, e in zip(self.total_ms, self.embed_ms, strict=True)]
        return {
            "recall.p50_ms": percentile(self.total_ms, 50),
            "recall.p95_ms": percentile(self.total_ms, 95),
            "recall.without_embedding.p50_ms": percentile(without, 50),
        }


def retain_chat(memory: remembrancer.Memory, chat: Chat, advance: Advance) -> int:
    """Retain a chat in its bank, a document a session; return the number of messages."""
    for session in chat.sessions:
        memory.retain(
            [_as_json(m) for m in spoken(session)],
            bank=chat.name,
            timestamp=session.when,
            document=session.name,
            metadata={"session": session.name},
        )
        advance()
    return sum(len(spoken(s)) for s in chat.sessions)


def retain_chats(
    memory: remembrancer.Memory, chats: Sequence[Chat], advance: Advance
) -> tuple[int, float]:
    """Retain chats; return the number of messages and the seconds it took."""
    started = time.perf_counter()
    messages = sum(retain_chat(memory, chat, advance) for chat in chats)
    return messages, time.perf_counter() - started


def spoken(session: Session) -> list[Message]:
    """Return the messages that say something: those that count as turns."""
    return [m for m in session.messages if m.text.strip()]


def ask(
    memory: remembrancer.Memory,
    chat: Chat,
    limit: int,
    asked: Asked | None = None,
    weights: remembrancer.Weights | None = None,
) -> list[Case]:
    """Ask every question of a chat.

    Args:
        memory: holds the chat, see `retain_chat`.
        chat: whose questions.
        limit: answers a question; passages of one message count once.
        asked: takes the times.
        weights: of the search; the defaults when None.
    """
    turns = {s.name: [m.id for m in spoken(s)] for s in chat.sessions}
    cases = []
    for question in chat.questions:
        started = time.perf_counter()
        answers = memory.recall(
            question.text,
            bank=chat.name,
            limit=limit,
            max_tokens=ALL_TOKENS,
            now=chat.asked_at,
            weights=weights,
        )
        if asked is not None:
            asked.total_ms.append((time.perf_counter() - started) * 1e3)
            asked.embed_ms.append(answers.timings.embed_ms)
        found = (turns[a.memory.metadata["session"]][a.memory.turn] for a in answers)
        cases.append(Case(distinct(found), question.gold, question.groups))
    return cases


def bm25_cases(chat: Chat, text: Callable[[Message], str], stop: Collection[str]) -> list[Case]:
    """Ask every question of a chat of plain BM25 over `text` of each message."""
    messages = chat.messages
    index = Bm25([text(m) for m in messages], stop)
    return [
        Case([messages[i].id for i in index.top(q.text, max(KS))], q.gold, q.groups)
        for q in chat.questions
    ]


def bm25_rows(chats: Sequence[Chat], text: Callable[[Message], str]) -> dict[str, list[Case]]:
    """Return the cases of both BM25 rows by prefix: Lucene's stop words, and the product's."""
    return {
        prefix: [case for chat in chats for case in bm25_cases(chat, text, stop)]
        for prefix, stop in (("bm25.", LUCENE_STOP), ("bm25-longstop.", ENGLISH))
    }


def _as_json(message: Message) -> dict[str, str]:
    said = {"id": message.id, "content": message.text}
    if message.speaker:
        said["speaker"] = message.speaker
    if message.role:
        said["role"] = message.role
    if message.at:
        said["timestamp"] = _iso(message.at)
    return said


def _iso(moment: datetime) -> str:
    return moment.isoformat()
