"""A server that logs all it can holds no key, password or question in what it logs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from wire_kit import MAIN, WAIT_S, environment

KEY = "set-key-Zq81Lm02Pw77Rt"
LLM_KEY = "llm-key-Hs73Bd91Xc55Vn"
EMBEDDER_KEY = "emb-key-Ty62Mk40Qa18Ws"
WRONG = "wrong-key-Jd20Fp64Nc39Ge"
TOLD = "quandlefish"


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_no_secret_is_logged(tmp_path: Path, log_format: str) -> None:
    errors = tmp_path / "errors"
    given = environment(
        tmp_path / "data",
        api_key=KEY,
        llm="openai:model",
        llm_url="http://127.0.0.1:9/v1",
        llm_key=LLM_KEY,
        llm_retries="0",
        embedder="openai:model",
        embedder_dimensions="8",
        embedder_url="http://127.0.0.1:9/v1",
        embedder_retries="0",
        embedder_key=EMBEDDER_KEY,
        log_level="debug",
        log_format=log_format,
        grpc="off",
    )
    with errors.open("wb") as stderr:
        server = subprocess.Popen(
            [sys.executable, "-c", MAIN],
            env=given,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        secrets = {KEY, LLM_KEY, EMBEDDER_KEY, WRONG}
        with httpx.Client(base_url=url, timeout=WAIT_S) as client:
            mine = {"Authorization": f"Bearer {KEY}"}
            made = client.post("/v1/keys", json={"name": "desk"}, headers=mine)
            assert made.status_code == 201, made.text
            secrets.add(made.json()["key"])
            path = "/v1/default/banks/b/memories"
            item = {"items": [{"content": f"Mira saw the {TOLD}."}]}
            assert client.post(path, json=item, headers=mine).status_code == 200
            asked = {"query": f"the {TOLD}?"}
            client.post(f"{path}/recall", json=asked, headers=mine)
            client.post("/v1/default/banks/b/reflect", json=asked, headers=mine)
            client.post(f"{path}?api_key={WRONG}", content=b"{", headers=mine)
            refused = client.get("/v1/keys", headers={"X-API-Key": WRONG})
            assert refused.status_code == 401
            assert WRONG not in refused.text
            kept = client.get(f"/v1/keys?name={KEY}", headers=mine).text
            assert made.json()["key"] not in kept
        server.terminate()
        server.wait(WAIT_S)
        server.stdout.close()
    logged = errors.read_text()
    assert "/v1/keys" in logged  # it did log
    for secret in (*secrets, TOLD):
        assert secret not in logged
