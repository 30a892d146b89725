"""Environment variables beside the plain ones: other programs' names, and what may not be empty."""

from __future__ import annotations

from collections.abc import Mapping

ALIASES = {
    "HINDSIGHT_API_HOST": "http",
    "HINDSIGHT_API_PORT": "http",
    "HINDSIGHT_API_BASE_PATH": "base_path",
    "HINDSIGHT_API_DATABASE_URL": "store",
    "HINDSIGHT_API_WORKER_ENABLED": "worker",
    "HINDSIGHT_API_WORKER_MAX_SLOTS": "worker_slots",
    "HINDSIGHT_API_EMBEDDINGS_OPENAI_API_KEY": "embedder_key",
    "HINDSIGHT_API_EMBEDDINGS_OPENAI_BASE_URL": "embedder_url",
    "HINDSIGHT_API_LLM_API_KEY": "llm_key",
    "HINDSIGHT_API_LLM_BASE_URL": "llm_url",
    "HINDSIGHT_API_LLM_TIMEOUT": "llm_timeout_s",
    "HINDSIGHT_API_LLM_MAX_RETRIES": "llm_retries",
    "HINDSIGHT_API_LLM_MAX_CONCURRENT": "llm_concurrency",
    "HINDSIGHT_API_TENANT_API_KEY": "api_key",
    "HEBBS_API_KEY": "api_key",
    "HEBBS_AUTH_ENABLED": "auth",
    "HEBBS_RATE_LIMIT_ENABLED": "rate_limit",
    "HEBBS_RATE_LIMIT_READ_RATE": "rate_read",
    "HEBBS_RATE_LIMIT_WRITE_RATE": "rate_write",
}
"""Environment variables of Hindsight and HEBBS that are read, too, and the settings that they stand
for."""

_AUTH = {"true": "on", "1": "on", "false": "off", "0": "off"}  # of HEBBS_AUTH_ENABLED

_HOST, _PORT = "127.0.0.1", "6381"


def aliased(variables: Mapping[str, str]) -> dict[str, str]:
    """Return settings that are given under the names of Hindsight and HEBBS.

    Raises:
        ValueError: the database is none that this server can use.
    """
    given = {name: variables[name] for name in ALIASES if variables.get(name)}
    host = given.pop("HINDSIGHT_API_HOST", None)
    port = given.pop("HINDSIGHT_API_PORT", None)
    found = {ALIASES[name]: value for name, value in given.items()}
    if host or port:
        host = host or _HOST
        found["http"] = f"{f'[{host}]' if ':' in host else host}:{port or _PORT}"
    if "auth" in found:
        found["auth"] = _AUTH.get(found["auth"].strip().lower(), found["auth"])
    scheme = found.get("store", "sqlite://").partition(":")[0]
    if scheme not in ("sqlite", "postgresql", "postgres"):  # the URL may hold a password
        raise ValueError(
            f"HINDSIGHT_API_DATABASE_URL names a database of the kind {scheme!r}, and rows are "
            "kept in SQLite or PostgreSQL: give sqlite:///FOLDER or "
            "postgresql://USER:PASSWORD@HOST/DATABASE, or unset it"
        )
    return found


_NEVER_EMPTY = (
    "api_key",
    "encryption_key",
    "encryption_key_file",
    "tls_cert",
    "tls_key",
    "tls_client_ca",
)  # what protects must not be off because a variable was not filled in


def refuse_empty(variables: Mapping[str, str]) -> None:
    """Refuse what protects where its variable is there and empty.

    Raises:
        ValueError: names the variable.
    """
    for name in (f"REMEMBRANCER_{field.upper()}" for field in _NEVER_EMPTY):
        if variables.get(name) == "":
            raise ValueError(f"{name} is empty: give it a value, or unset it")
