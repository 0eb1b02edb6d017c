"""A log of what was sent away outlives its run, whatever becomes of that."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import pytest

from asking.made_dataset import rows, write_dataset
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError, ModelError, PrivacyError
from clinqa.core.records import DataClass
from clinqa.models.protocol import ModelOptions
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.openai import OpenAIWire
from clinqa.privacy.attestation import Attestation, load_attestations
from clinqa.privacy.egress import EgressGuard
from loopback import Loopback, Reply, reply


def chat() -> Reply:
    return reply({"choices": [{"message": {"content": "Mild."}, "finish_reason": "stop"}]})


def lines(run: Path) -> int:
    """Of all logs in a run's folder, finished or not."""
    logs = [*run.glob("egress*.jsonl"), *run.glob(".partial/egress*.jsonl")]
    return sum(len(log.read_text().splitlines()) for log in logs)


def asked(server: Loopback, **given: object) -> PredictOptions:
    return PredictOptions(model="openai:m", base_url=server.url, **given)  # type: ignore[arg-type]


def test_it_stays_where_a_run_fails_before_its_first_answer_and_through_every_fresh_start(
    tmp_path: Path,
) -> None:
    dataset, out = write_dataset(tmp_path / "dataset", test=rows(["t1"])), tmp_path / "run"
    with Loopback(lambda _: Reply(401)) as server:
        for fresh in (False, True, True):
            with pytest.raises(ModelError):
                predict(dataset, out, asked(server, fresh=fresh))
            assert lines(out) == len(server.requests)
        assert len(server.requests) == 3
        server.handler = lambda _: chat()
        for fresh in (False, True, True):
            predict(dataset, out, asked(server, fresh=fresh, seed=1 if fresh else 0))
            assert lines(out) == len(server.requests)
        assert predict(dataset, out, asked(server, seed=1)).already_done
    assert len(list(out.glob("egress.2*.jsonl"))) == 4
    with pytest.raises(ConfigError, match="not clinqa's"):
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "egress.jsonl").write_text("{}\n")
        predict(dataset, tmp_path / "other", PredictOptions(model="baseline:prior"))


def test_a_run_of_another_sort_takes_the_place_and_leaves_the_log(tmp_path: Path) -> None:
    dataset, out = write_dataset(tmp_path / "dataset", test=rows(["t1"])), tmp_path / "run"
    with Loopback(lambda _: chat()) as server:
        predict(dataset, out, asked(server))
    predict(dataset, out, PredictOptions(model="baseline:prior", fresh=True))
    assert lines(out) == 3


GOOD = {
    "host": "models.example", "who": "A. Steward", "purpose": "evaluation", "retention": "none",
    "until": "2999-01-31",
}  # fmt: skip


def test_the_attestation_that_was_used_stands_in_the_run(tmp_path: Path) -> None:
    held = Attestation("models.example", "A. Steward", "evaluation", "none", date(2999, 1, 31))
    log = tmp_path / "egress.jsonl"
    guard = EgressGuard(DataClass.PHI, (held,), log, resolve=lambda host, port: ["203.0.113.9"])
    options = ModelOptions(data_class=DataClass.PHI, base_url="https://models.example/v1")
    model = RemoteModel(OpenAIWire("m", options), options, guard=guard)
    told = dict(model.service()["attestation"])
    assert (told["who"], told["purpose"], told["until"]) == (
        "A. Steward", "evaluation", "2999-01-31",
    )  # fmt: skip
    here = ModelOptions(data_class=DataClass.PHI, base_url="http://127.0.0.1:9/v1")
    assert "attestation" not in RemoteModel(OpenAIWire("m", here), here, guard=guard).service()


def test_an_attestation_that_somebody_else_could_have_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "attestations.json"
    path.write_text(json.dumps([GOOD]))
    for mode in (0o600, 0o644, 0o400):
        path.chmod(mode)
        assert load_attestations(path)[0].who == "A. Steward"
    for mode in (0o664, 0o646, 0o620, 0o602):
        path.chmod(mode)
        with pytest.raises(PrivacyError, match="chmod go-w"):
            load_attestations(path)
    path.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    with pytest.raises(PrivacyError, match="a link"):
        load_attestations(link)
    real, owner = os.fstat, os.geteuid()

    def of_another(file: int) -> os.stat_result:
        found = list(real(file))
        found[4] = owner + 1
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", of_another)
    with pytest.raises(PrivacyError, match="another user"):
        load_attestations(path)
    monkeypatch.undo()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_attestations(tmp_path / "none.json")
    with pytest.raises(ConfigError):
        load_attestations(tmp_path)
