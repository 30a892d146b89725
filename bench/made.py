"""Made data: chats with realistic word statistics, the same for the same seed on every machine.

Words follow a Zipf-Mandelbrot law, p(rank) ~ 1 / (rank + 2.7), over some 20,000: English function
words first, then made-up ones. About a third of the sentences state something with a name, a
place or a date, so that reading them finds facts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from typing import Any

VOCABULARY = 20_000
FLATTEN = 2.7  # Mandelbrot's shift of the rank
DOCUMENT_TURNS = 500
START = datetime(2022, 1, 3, 9, 0, tzinfo=UTC)

_FUNCTION_WORDS = (
    "the I to and a of it you that in is was for on with we my but have so be at this not they "
    "just like do are me what about as if or there from all really had up when out some can get "
    "would been how then them more will now one time were by an good think know has he she your "
    "could our who their her him did no than other also into only because very back after over "
    "well still even want new first last way people day go see make work much too down off again "
    "where here which lot thing great today"
).split()
_NAMES = (
    "Ada Boris Carmen Dmitri Elena Farid Greta Hugo Ines Jonas Kira Leon Mina Nadia Oscar Petra "
    "Quentin Rosa Stefan Tara Umar Vera Wanda Xenia Yusuf Zoe"
).split()
_PLACES = (
    "Berlin Lisbon Oslo Prague Dublin Vienna Madrid Toronto Chicago Sydney Nairobi Osaka Lima "
    "Boston Denver Geneva Krakow Porto Seattle Turin"
).split()
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_RELATIONS = "sister brother mother father cousin neighbour boss colleague friend aunt".split()
_STATEMENTS = (
    "I moved to {place} in {month}.",
    "My {relation} {name} works at {word} now.",
    "I bought a {word} on {month} {n}.",
    "I don't like {word} any more.",
    "{name} is going to {place} next week.",
    "We met {name} in {place} last {day}.",
    "I have a {word} and a {word2}.",
    "My {relation} lives in {place}.",
    "I started to learn {word} in 20{n}.",
    "{name} told me that the {word} costs {n} dollars.",
    "My favourite {word} is the {word2}.",
    "I am allergic to {word}.",
    "On {day} I have to call {name} about the {word}.",
    "I quit my job at {word} yesterday.",
)
_ASKED = (
    "When did {name} go to {place}?",
    "What did {name} say about the {word}?",
    "Where does my {relation} live?",
    "Who was in {place} in {month}?",
    "What do I think about {word}?",
    "How much does the {word} cost?",
    "Which {word} did we talk about last {day}?",
    "Did my {relation} like the {word} in {place}?",
)


class Words:
    """The vocabulary and its law."""

    def __init__(self, size: int = VOCABULARY) -> None:
        rng = random.Random(20_000)
        made: dict[str, None] = dict.fromkeys(_FUNCTION_WORDS)
        while len(made) < size:
            made[_made_word(rng)] = None
        self.all = list(made)
        self._up_to = list(accumulate(1 / (rank + FLATTEN) for rank in range(1, size + 1)))
        self._rare_from = len(_FUNCTION_WORDS)

    def draw(self, rng: random.Random, count: int) -> list[str]:
        """Draw words by their frequency."""
        return rng.choices(self.all, cum_weights=self._up_to, k=count)

    def draw_rare(self, rng: random.Random) -> str:
        """Draw a word that is not a function word, by its frequency."""
        while (word := self.draw(rng, 1)[0]) in _FUNCTION_SET:
            pass
        return word


_FUNCTION_SET = frozenset(_FUNCTION_WORDS)


@lru_cache(maxsize=1)
def words() -> Words:
    """Return the vocabulary, made once."""
    return Words()


def speakers(bank: str) -> list[str]:
    """Return the two or three who speak in a bank."""
    rng = random.Random(f"speakers {bank}")
    return rng.sample(_NAMES, rng.choice((2, 2, 3)))


def document(bank: str, number: int, turns: int = DOCUMENT_TURNS) -> list[dict[str, str]]:
    """Return the messages of one document of a bank; each document is made by itself."""
    rng = random.Random(f"{bank} {number}")
    who = speakers(bank)
    return [
        {"id": f"{number}:{i}", "speaker": rng.choice(who), "content": turn_text(rng)}
        for i in range(turns)
    ]


def said_at(number: int) -> datetime:
    """Return when document `number` was said: one every eight hours."""
    return START + timedelta(hours=8 * number)


def turn_text(rng: random.Random) -> str:
    """Return 1 to 3 sentences."""
    return " ".join(_sentence(rng) for _ in range(rng.choice((1, 1, 2, 2, 3))))


def questions(bank: str, turns: int, count: int, purpose: str = "asked") -> list[str]:
    """Return distinct questions to a bank of made turns: plain ones, and parts of its turns."""
    rng = random.Random(f"{purpose} {bank} {turns} {count}")
    source = _drawn_turns(bank, turns, rng)
    found: dict[str, None] = {}
    while len(found) < count:
        found[_part(next(source), rng) if len(found) % 2 else plain_question(rng)] = None
    return list(found)


def plain_questions(count: int) -> list[str]:
    """Return distinct English questions about made things."""
    rng = random.Random(f"plain {count}")
    found: dict[str, None] = {}
    while len(found) < count:
        found[plain_question(rng)] = None
    return list(found)


def plain_question(rng: random.Random) -> str:
    """Return an English question about made things."""
    return _fill(rng.choice(_ASKED), rng)


def locomo(chats: int = 2, sessions: int = 4, turns: int = 24, seed: int = 1) -> list[Any]:
    """Return made data in the shape of LoCoMo: questions are words of the turn that answers."""
    return [
        _locomo_chat(random.Random(f"locomo {seed} {c}"), c, sessions, turns) for c in range(chats)
    ]


def beam(chats: int = 2, turns: int = 40, seed: int = 1) -> list[Any]:
    """Return made data in the shape of BEAM, its bookkeeping and long answers included."""
    made = []
    for chat in range(chats):
        rng = random.Random(f"beam {seed} {chat}")
        messages: list[dict[str, Any]] = []
        for i in range(turns):
            user = i % 2 == 0
            text = turn_text(rng) if user else " ".join(turn_text(rng) for _ in range(15))
            tail = f" ->-> 1,{i}" if user else ""
            messages.append(
                {"id": i, "role": "user" if user else "assistant", "content": text + tail}
            )
        messages[0]["time_anchor"] = "March-15-2024"
        asked = []
        for i in range(turns // 4):
            gold = rng.randrange(0, turns, 2)
            text = messages[gold]["content"].partition(" ->->")[0]
            ability = ("information_extraction", "temporal_reasoning")[i % 2]
            asked.append({"ability": ability, "question": _part(text, rng), "gold": [gold]})
        asked.append({"ability": "abstention", "question": plain_question(rng), "gold": []})
        made.append({"chat": chat, "turns": messages, "questions": asked})
    return made


def _locomo_chat(rng: random.Random, number: int, sessions: int, turns: int) -> dict[str, Any]:
    who = rng.sample(_NAMES, 2)
    talk: dict[str, Any] = {"speaker_a": who[0], "speaker_b": who[1]}
    said: list[dict[str, str]] = []
    for s in range(1, sessions + 1):
        talk[f"session_{s}_date_time"] = f"1:{10 + s} pm on {s} {rng.choice(_MONTHS)}, 2023"
        talk[f"session_{s}"] = [
            {"speaker": who[t % 2], "dia_id": f"D{s}:{t + 1}", "text": turn_text(rng)}
            for t in range(turns)
        ]
        said += talk[f"session_{s}"]
    said[0]["blip_caption"] = f"a photo of a {words().draw_rare(rng)}"
    asked = []
    for i in range(len(said) // 4):
        answer = rng.choice(said)
        asked.append(
            {
                "question": f"{answer['speaker']}: {_part(answer['text'], rng)}?",
                "answer": answer["text"],
                "evidence": [answer["dia_id"]],
                "category": i % 5 + 1,
            }
        )
    return {"sample_id": f"made-{number}", "conversation": talk, "qa": asked}


def _drawn_turns(bank: str, turns: int, rng: random.Random) -> Iterator[str]:
    """Yield turns of a bank, many from each document that is made for it."""
    documents = max(1, -(-turns // DOCUMENT_TURNS))
    while True:
        number = rng.randrange(documents)
        size = min(DOCUMENT_TURNS, turns - number * DOCUMENT_TURNS)
        messages = document(bank, number, size)
        for message in rng.sample(messages, min(20, len(messages))):
            yield message["content"]


def _part(text: str, rng: random.Random) -> str:
    """Return 3 to 8 words that stand together in a text."""
    said = text.split()
    size = min(len(said), rng.randint(3, 8))
    start = rng.randint(0, len(said) - size)
    return " ".join(said[start : start + size])


def _sentence(rng: random.Random) -> str:
    if rng.random() < 0.35:
        return _fill(rng.choice(_STATEMENTS), rng)
    said = words().draw(rng, rng.randint(5, 16))
    said[0] = said[0].capitalize()
    return " ".join(said) + rng.choice(".....?!")


def _fill(template: str, rng: random.Random) -> str:
    return template.format(
        name=rng.choice(_NAMES),
        place=rng.choice(_PLACES),
        month=rng.choice(_MONTHS),
        day=rng.choice(_DAYS),
        relation=rng.choice(_RELATIONS),
        word=words().draw_rare(rng),
        word2=words().draw_rare(rng),
        n=rng.randint(10, 28),
    )


def _made_word(rng: random.Random) -> str:
    onsets: Sequence[str] = "b br c ch d dr f fl g gr h j k l m n p pl r s sh st t tr v w z".split()
    codas: Sequence[str] = ("", "", "", "n", "r", "l", "s", "t", "m", "ck", "nd")
    syllables = rng.choice((1, 2, 2, 3, 3))
    return "".join(
        rng.choice(onsets) + rng.choice("aeiou") + rng.choice(codas) for _ in range(syllables)
    )
