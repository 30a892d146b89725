"""Makes the language models that the settings name, and what counts them."""

from __future__ import annotations

from ...keeping.store import Store
from ...models.llm.factory import Endpoint, make_llm
from ...models.llm.types import Llm
from ...nouns.clock import Clock
from ...nouns.ids import IdMaker
from ...settings import Settings
from ..meters import Meters
from .ledger import Caps, Ledger
from .minds import CONSOLIDATION, REFLECT, RETAIN, Minds
from .traces import Traces


def make_minds(
    settings: Settings, store: Store, meters: Meters, *, ids: IdMaker, clock: Clock
) -> Minds:
    """Return the language models; verbs of one model share it, and its bound on requests at once.

    Raises:
        InvalidInput: a setting names none that is known.
        ModelUnavailable: httpx is not installed.
    """
    key = settings.llm_key
    endpoint = Endpoint(
        settings.llm_url,
        key.get_secret_value() if key else None,
        settings.llm_timeout_s,
        settings.llm_retries,
        settings.llm_concurrency,
    )
    named = {
        RETAIN: settings.llm_retain,
        REFLECT: settings.llm_reflect,
        CONSOLIDATION: settings.llm_consolidation,
    }
    specs = {verb: settings.llm if own is None else own for verb, own in named.items()}
    made: dict[str, Llm | None] = {s: make_llm(s, endpoint) for s in dict.fromkeys(specs.values())}
    caps = Caps(
        settings.llm_operation_tokens,
        settings.llm_operation_calls,
        settings.llm_bank_tokens,
        settings.llm_bank_calls,
        settings.llm_tenant_tokens,
        settings.llm_tenant_calls,
    )
    return Minds(
        {verb: made[spec] for verb, spec in specs.items()},
        Ledger(store, caps, clock=clock),
        Traces(store),
        meters,
        ids=ids,
        clock=clock,
    )
