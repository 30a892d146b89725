"""The generated classes for operations, banks, webhooks, files, transfer, audit and monitoring."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.api.audit_api import AuditApi
from hindsight_client_api.api.bank_templates_api import BankTemplatesApi
from hindsight_client_api.exceptions import ApiException
from hindsight_client_api.models.add_background_request import AddBackgroundRequest
from hindsight_client_api.models.bank_config_update import BankConfigUpdate
from hindsight_client_api.models.create_bank_request import CreateBankRequest
from hindsight_client_api.models.create_webhook_request import CreateWebhookRequest
from hindsight_client_api.models.disposition_traits import DispositionTraits
from hindsight_client_api.models.update_disposition_request import UpdateDispositionRequest
from hindsight_client_api.models.update_webhook_request import UpdateWebhookRequest

Run = Callable[[Any], Any]
Finished = Callable[[str, str], Any]
NOWHERE = "00000000-0000-0000-0000-000000000000"


class TestOperationLifecycle:
    def test_an_operation_id_is_an_idempotency_key(
        self, client: Hindsight, bank: str, finished: Finished
    ) -> None:
        key = str(uuid4())
        first = client.retain(bank, "Snow fell.", retain_async=True, operation_id=key)
        again = client.retain(bank, "Snow fell.", retain_async=True, operation_id=key)
        assert first.operation_id == again.operation_id == key
        assert finished(bank, key).status == "completed"
        with pytest.raises(ApiException) as taken:
            client.retain(f"{bank}-b", "Snow fell.", retain_async=True, operation_id=key)
        assert taken.value.status == 409

    def test_status_and_delete(
        self, client: Hindsight, bank: str, run: Run, finished: Finished
    ) -> None:
        operation = client.retain(bank, "Hail fell.", retain_async=True).operation_id
        status = finished(bank, operation)
        assert (status.operation_id, status.error_message) == (operation, None)
        assert status.created_at
        assert status.completed_at
        with_payload = run(
            client.operations.get_operation_status(bank, operation, include_payload=True)
        )
        assert with_payload.status == "completed"
        for refused in (client.operations.cancel_operation, client.operations.retry_operation):
            with pytest.raises(ApiException) as conflict:
                run(refused(bank, operation))
            assert conflict.value.status == 409
        assert run(client.operations.delete_operation(bank, operation)).success
        gone = run(client.operations.get_operation_status(bank, operation))
        assert gone.status == "not_found"

    def test_what_is_nowhere(self, client: Hindsight, bank: str, run: Run) -> None:
        assert run(client.operations.get_operation_status(bank, NOWHERE)).status == "not_found"
        with pytest.raises(ApiException) as missing:
            run(client.operations.cancel_operation(bank, NOWHERE))
        assert missing.value.status == 404


class TestErrors:
    def test_wrong_input_is_422_with_details(self, client: Hindsight, bank: str) -> None:
        for call in (
            lambda: client.retain(bank, "   "),
            lambda: client.recall(bank, "?!"),
            lambda: client.recall(bank, "who", types=["rumour"]),
        ):
            with pytest.raises(ApiException) as refused:
                call()
            assert refused.value.status == 422
            [fault] = json.loads(refused.value.body)["detail"]
            assert {"loc", "msg", "type"} <= fault.keys()

    def test_a_bank_that_is_not_there(self, client: Hindsight, bank: str, run: Run) -> None:
        assert run(client.banks.get_agent_stats(bank)).total_nodes == 0
        assert client.delete_bank(bank).deleted_count == 0
        assert run(client.memory.clear_bank_memories(bank)).success
        assert client.recall(bank, "anything").results == []


class TestBanks:
    def test_create_update_list(self, client: Hindsight, bank: str, run: Run) -> None:
        bank = f"0-{bank}"  # older clients see the first hundred only, and names are sorted
        made = client.create_bank(
            bank,
            name="Lab",
            mission="Remember experiments.",
            disposition={"skepticism": 5, "literalism": 4, "empathy": 1},
        )
        traits = {"skepticism": 5, "literalism": 4, "empathy": 1}
        assert made.disposition.to_dict() == traits
        changed = run(client.banks.update_bank(bank, CreateBankRequest(name="Lab 2")))
        assert (changed.name, changed.mission) == ("Lab 2", "Remember experiments.")
        assert changed.disposition.to_dict() == traits
        client.retain(bank, "The probe is cold.")
        listed = run(client.banks.list_banks())
        row = next(each for each in listed.banks if each.bank_id == bank)
        assert (row.name, row.disposition.to_dict()) == ("Lab 2", traits)
        assert row.fact_count > 0

    def test_profile(self, client: Hindsight, bank: str, run: Run) -> None:
        client.create_bank(bank)
        traits = DispositionTraits(skepticism=1, literalism=2, empathy=5)
        request = UpdateDispositionRequest(disposition=traits)
        run(client.banks.update_bank_disposition(bank, request))
        profile = run(client.banks.get_bank_profile(bank))
        assert profile.disposition == traits
        told = AddBackgroundRequest(content="I like tea.")
        assert "I like tea." in run(client.banks.add_bank_background(bank, told)).mission

    def test_config(self, client: Hindsight, bank: str, run: Run) -> None:
        before = client.get_bank_config(bank)
        assert before["bank_id"] == bank
        assert before["overrides"] == {}
        changed = client.update_bank_config(bank, retain_chunk_size=1200, disposition_empathy=2)
        assert changed["config"]["retain_chunk_size"] == 1200
        assert changed["overrides"] == {"retain_chunk_size": 1200, "disposition_empathy": 2}
        update = BankConfigUpdate(updates={"retain_chunk_size": 1500})
        again = run(client.banks.update_bank_config(bank, update))
        assert again.overrides["retain_chunk_size"] == 1500
        assert run(client.banks.get_bank_config(bank)).overrides == again.overrides
        assert client.reset_bank_config(bank)["overrides"] == {}

    def test_timeseries(self, client: Hindsight, garden: str, run: Run) -> None:
        series = run(client.banks.get_memories_timeseries(garden, period="7d"))
        assert (series.bank_id, series.period, series.time_field) == (garden, "7d", "created_at")
        total = run(client.banks.get_agent_stats(garden, refresh=True)).total_nodes
        assert sum(bucket.world for bucket in series.buckets) == total


class Receiver:
    """Takes calls on loopback."""

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], bytes]] = []
        calls = self.calls

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                calls.append((dict(self.headers.items()), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class TestWebhooks:
    @pytest.fixture
    def receiver(self) -> Iterator[Receiver]:
        made = Receiver()
        yield made
        made.close()

    def test_create_change_and_delete(self, client: Hindsight, bank: str, run: Run) -> None:
        made = run(
            client.webhooks.create_webhook(
                bank, CreateWebhookRequest(url="https://hooks.example/in", secret="s" * 24)
            )
        )
        assert (made.bank_id, made.enabled) == (bank, True)
        assert made.event_types == ["consolidation.completed"]
        change = UpdateWebhookRequest(event_types=["retain.completed"], enabled=False)
        changed = run(client.webhooks.update_webhook(bank, made.id, change))
        assert (changed.event_types, changed.enabled) == (["retain.completed"], False)
        [listed] = run(client.webhooks.list_webhooks(bank)).items
        assert (listed.id, listed.url) == (made.id, "https://hooks.example/in")
        assert run(client.webhooks.delete_webhook(bank, made.id)).success
        assert run(client.webhooks.list_webhooks(bank)).items == []

    def test_are_called(self, client: Hindsight, bank: str, run: Run, receiver: Receiver) -> None:
        request = CreateWebhookRequest(
            url=receiver.url, secret="k" * 24, event_types=["retain.completed"]
        )
        hook = run(client.webhooks.create_webhook(bank, request))
        client.retain(bank, "The bell rang.", document_id="bell")

        async def completed() -> Any:
            while True:
                listed = await client.webhooks.list_webhook_deliveries(bank, hook.id)
                if any(item.status == "completed" for item in listed.items):
                    return listed.items[0]
                await asyncio.sleep(0.05)

        delivery = run(asyncio.wait_for(completed(), 30))
        assert (delivery.event_type, delivery.attempts) == ("retain.completed", 1)
        assert delivery.last_response_status == 204
        headers, body = receiver.calls[0]
        signed = hmac.new(b"k" * 24, body, hashlib.sha256).hexdigest()
        assert headers["X-Hindsight-Signature"] == f"sha256={signed}"


class TestFiles:
    def test_files_become_documents(
        self, client: Hindsight, bank: str, tmp_path: Path, run: Run, finished: Finished
    ) -> None:
        bees, mill = tmp_path / "bees.md", tmp_path / "mill.txt"
        bees.write_text("# Bees\n\nNora keeps twelve hives behind the mill.\n")
        mill.write_text("The mill was built in 1911.")
        answer = client.retain_files(
            bank,
            [bees, str(mill)],
            files_metadata=[{"document_id": "farm/bees", "tags": ["farm"]}, {"context": "history"}],
        )
        assert len(answer.operation_ids) == 2
        for operation in answer.operation_ids:
            assert finished(bank, operation).status == "completed"
        found = client.recall(bank, "How many hives?", tags=["farm"], tags_match="all_strict")
        assert "twelve hives" in found.results[0].text
        assert found.results[0].document_id == "farm/bees"
        assert client.recall(bank, "When was the mill built?").results[0].context == "history"


class TestTransfer:
    def test_export_and_import(
        self, client: Hindsight, garden: str, run: Run, finished: Finished
    ) -> None:
        client.retain(garden, "The ferry leaves at nine.", document_id="trips/ferry")
        archive = client.export_documents(garden, ["trips/ferry"], poll_interval=0.1)
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            assert opened.testzip() is None
        other = f"{garden}-copy"
        submitted = run(
            client.document_transfer.import_documents(
                other, file=("archive.zip", archive), on_conflict="skip"
            )
        )
        assert finished(other, submitted.operation_id).status == "completed"
        found = client.recall(other, "When does the ferry leave?")
        assert found.results[0].text == "The ferry leaves at nine."
        assert found.results[0].document_id == "trips/ferry"
        everything = client.export_documents(garden, poll_interval=0.1)
        assert len(everything) > len(archive)

    def test_the_former_way_is_gone(self, client: Hindsight, bank: str, run: Run) -> None:
        with pytest.raises(ApiException) as gone:
            run(client.document_transfer.export_documents_sync_removed(bank))
        assert gone.value.status == 410


class TestTemplates:
    def test_export(self, client: Hindsight, bank: str, run: Run) -> None:
        client.update_bank_config(bank, reflect_mission="Be brief.", retain_chunk_size=900)
        templates = BankTemplatesApi(client._api_client)
        manifest = run(templates.export_bank_template(bank))
        assert manifest.version
        assert (manifest.bank.reflect_mission, manifest.bank.retain_chunk_size) == (
            "Be brief.",
            900,
        )
        schema = run(templates.get_bank_template_schema())
        assert {"version", "bank"} <= schema["properties"].keys()


class TestAudit:
    def test_what_was_done_is_listed(self, client: Hindsight, garden: str, run: Run) -> None:
        audit = AuditApi(client._api_client)

        async def retains() -> Any:
            while True:
                listed = await audit.list_audit_logs(garden, action="memories.retain")
                if listed.items:
                    return listed
                await asyncio.sleep(0.05)

        listed = run(asyncio.wait_for(retains(), 30))
        assert (listed.bank_id, listed.limit, listed.offset) == (garden, 50, 0)
        entry = listed.items[0]
        assert (entry.action, entry.transport, entry.bank_id) == ("memories.retain", "http", garden)
        assert entry.started_at
        stats = run(audit.audit_log_stats(garden, period="1d"))
        assert (
            sum(bucket.actions.get("memories.retain", 0) for bucket in stats.buckets)
            == listed.total
        )


class TestMonitoring:
    def test_version(self, client: Hindsight) -> None:
        version = client.get_version()
        assert version.api_version
        features = version.features
        assert features.file_upload_api
        assert features.worker
        assert features.document_export_api
        assert features.document_import_api

    def test_probes_and_metrics(self, client: Hindsight, run: Run) -> None:
        live = run(client.monitoring.get_liveness())
        assert live.status == "alive"
        assert live.uptime_seconds >= 0
        ready = run(client.monitoring.get_readiness())
        assert ready["database"] == "connected"
        assert run(client.monitoring.health_endpoint_health_get())["status"] == "healthy"
        assert "hindsight_operation_total" in run(client.monitoring.metrics_endpoint_metrics_get())

    def test_a_key_is_taken_where_none_is_needed(self, url: str, bank: str, loop: Any) -> None:
        with Hindsight(base_url=url, api_key="any", user_agent="my-agent/1.0") as client:
            assert client.retain(bank, "Keys are kept in the box.").success
            assert client.recall(bank, "Where are keys kept?").results
