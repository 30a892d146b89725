"""`remembrancer eval`: try a language model on this memory's work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, examples
from .output import results, write_json

if TYPE_CHECKING:
    from ...settings import Settings
    from ...verbs.evaluate import Case, Score

NAME = "eval"
EPILOG = examples(
    "remembrancer eval --llm openai:gpt-5-mini",
    "remembrancer eval --llm openai:qwen3 --llm-url http://127.0.0.1:8000/v1 --cases mine.jsonl",
    json="{model, cases, turns, facts: {...}, answers: {...}, refused: {...}, tokens: {...}, "
    "tokens_per_turn, cost}",
)


def command(
    llm: Annotated[
        str | None, typer.Option("--llm", help="KIND:MODEL; REMEMBRANCER_LLM by default.")
    ] = None,
    llm_url: Annotated[str | None, typer.Option("--llm-url", help="Base URL of its API.")] = None,
    cases: Annotated[
        Path | None,
        typer.Option("--cases", exists=True, dir_okay=False, help="Your own cases, as JSON lines."),
    ] = None,
    input_price: Annotated[
        float | None, typer.Option("--input-price", min=0, help="Of a million input tokens.")
    ] = None,
    output_price: Annotated[
        float | None, typer.Option("--output-price", min=0, help="Of a million output tokens.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Try a language model: which facts it finds, what is refused, tokens, and what that costs.

    The key is read from REMEMBRANCER_LLM_KEY. Nothing is kept: it works in a folder of its own.
    """
    import asyncio  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    from ...nouns.errors import InvalidInput  # noqa: PLC0415
    from ...settings import Settings  # noqa: PLC0415
    from ...verbs.evaluate import read_cases  # noqa: PLC0415

    given = {"llm": llm, "llm_url": llm_url}
    with tempfile.TemporaryDirectory() as folder:
        told: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        settings = Settings(data=Path(folder), store=None, worker=False, watch=False, **told)
        if settings.llm == "none":
            raise InvalidInput("name the model to try: --llm KIND:MODEL", field="llm")
        wanted = read_cases(cases.read_text("utf-8") if cases is not None else None)
        score = asyncio.run(_tried(settings, wanted))
    found = _shape(settings.llm, score, input_price, output_price)
    if json:
        write_json(found)
    else:
        _show(found)


async def _tried(settings: Settings, cases: list[Case]) -> Score:
    from ...app import App  # noqa: PLC0415
    from ...verbs.evaluate import Evaluate  # noqa: PLC0415

    app = await App.open(settings, background=False)
    try:
        evaluate = Evaluate(app.store, app.retain, app.thinker, app.answering, app.minds)
        return await evaluate(cases)
    finally:
        await app.close()


def _shape(
    model: str, score: Score, input_price: float | None, output_price: float | None
) -> dict[str, Any]:
    tokens = score.tokens
    cost = None
    if input_price is not None and output_price is not None:
        used = tokens["input_tokens"] * input_price + tokens["output_tokens"] * output_price
        cost = round(used / 1e6, 6)
    read = tokens["retain_input_tokens"] + tokens["retain_output_tokens"]
    return {
        "model": model,
        "cases": score.cases,
        "turns": score.turns,
        "facts": {
            "expected": score.expected,
            "found_by_rules": score.found_by_rules,
            "found_with_model": score.found_with_model,
            "kept_by_rules": score.facts_by_rules,
            "kept_by_model": score.facts_by_model,
            "kept_that_should_not_be": score.absent_kept,
            "cases_unread": score.unread,
        },
        "answers": {
            "asked": score.questions,
            "right": score.right,
            "by_model": score.by_model,
        },
        "refused": dict(score.refused),
        "tokens": dict(sorted(tokens.items())),
        "tokens_per_turn": round(read / score.turns, 1) if score.turns else 0.0,
        "cost": cost,
    }


def _show(found: dict[str, Any]) -> None:
    facts, answers, tokens = found["facts"], found["answers"], found["tokens"]
    lines = [
        f"{found['model']}: {found['cases']} cases, {found['turns']} turns",
        f"facts      {facts['found_with_model']} of {facts['expected']} expected ones found; "
        f"the rules alone find {facts['found_by_rules']}",
        f"           {facts['kept_by_model']} kept of the model, "
        f"{facts['kept_that_should_not_be']} of them should not be",
        f"refused    {sum(found['refused'].values())}: "
        + (", ".join(f"{k} {v}" for k, v in sorted(found["refused"].items())) or "none"),
        f"answers    {answers['right']} of {answers['asked']} right; "
        f"{answers['by_model']} by the model, the others quoted",
        f"unread     {facts['cases_unread']} cases",
        f"tokens     {tokens.get('input_tokens', 0):,} in, {tokens.get('output_tokens', 0):,} out; "
        f"{found['tokens_per_turn']:g} a retained turn; "
        f"{tokens.get('calls', 0)} calls, {tokens.get('failed_calls', 0)} failed",
        "cost       "
        + (
            "give --input-price and --output-price" if found["cost"] is None else str(found["cost"])
        ),
    ]
    results().print("\n".join(lines), soft_wrap=True, highlight=False)
