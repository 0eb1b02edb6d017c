"""What a service does in a run is said once, counted, and stands in the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asking.made_dataset import predictions, rows, write_dataset
from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ModelError
from clinqa.core.manifest import Manifest
from loopback import Loopback, Reply, Request, reply


def chat(text: str = "Mild.") -> Reply:
    return reply({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


def without_temperature(request: Request) -> Reply:
    if "temperature" in request.json:
        return reply({"error": {"message": "`temperature` is deprecated for this model."}}, 400)
    return chat()


def options(server: Loopback, **given: object) -> PredictOptions:
    return PredictOptions(model="openai:m", base_url=server.url, **given)  # type: ignore[arg-type]


def test_a_refused_field_stands_in_the_manifest_and_among_the_warnings(tmp_path: Path) -> None:
    told: list[str] = []
    dataset = write_dataset(tmp_path / "dataset")
    with Loopback(without_temperature) as server:
        result = predict(dataset, tmp_path / "run", options(server), notice=told.append)
        assert len(server.requests) == 1 + 18
    manifest = Manifest.read(tmp_path / "run" / "manifest.json")
    assert manifest.details["service"] == {"left_out": {"temperature": "is left out"}}
    assert [line for line in result.warnings if "temperature" in line] and len(told) == 1
    with Loopback(without_temperature) as server:
        named = options(server, leave_out=("temperature",))
        predict(dataset, tmp_path / "named", named)
        assert len(server.requests) == 18
    manifest = Manifest.read(tmp_path / "named" / "manifest.json")
    assert manifest.configuration["leave_out"] == ["temperature"]


def test_what_was_left_out_before_a_run_broke_off_stands_in_it_all_the_same(
    tmp_path: Path,
) -> None:
    dataset, out = write_dataset(tmp_path / "dataset"), tmp_path / "run"
    left = [10]

    def stops(request: Request) -> Reply:
        left[0] -= 1
        return without_temperature(request) if left[0] > 0 else Reply(401)

    with Loopback(stops) as server:
        with pytest.raises(ModelError):
            predict(dataset, out, options(server, max_parallel=1))
        server.handler = lambda request: chat()  # it is mended meanwhile
        predict(dataset, out, options(server, max_parallel=1))
    manifest = Manifest.read(out / "manifest.json")
    assert manifest.details["service"]["left_out"] == {"temperature": "is left out"}


def test_why_prompts_have_no_answer_is_told_in_the_servers_words_but_never_in_the_records(
    tmp_path: Path,
) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows(["t1", "t2"]))

    def fails(request: Request) -> Reply:
        asked = request.json["messages"][-1]["content"]
        said = f"invalid request: {asked}"
        return reply({"error": {"message": said}}, 400) if "Study t2" in asked else chat()

    with Loopback(fails) as server:
        result = predict(dataset, tmp_path / "run", options(server, max_parallel=1))
        assert len(server.requests) == 3 + 2 * 3  # once in each pass
    assert result.counts["error"] == 3
    manifest = (tmp_path / "run" / "manifest.json").read_text()
    told = "\n".join(result.warnings) + json.dumps(json.loads(manifest)["details"]["service"])
    assert "bad_output" in told
    for word in ("mitral", "Study", "aortic", "FINDINGS"):
        assert word not in told


def test_half_an_answer_is_no_answer_whatever_its_end_is_called(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "dataset", test=rows(["t1"]))
    for finish, status in (
        ("MAX_TOKENS", "truncated"),
        ("SAFETY", "refused"),
        ("content_filter: SPII", "refused"),
        ("brownout", "error"),
        ("abort", "error"),
    ):
        body = {"choices": [{"message": {"content": "Mild mi"}, "finish_reason": finish}]}

        def handler(request: Request, body: object = body) -> Reply:
            asked = request.json["messages"][-1]["content"]
            return chat() if "aortic" in asked else reply(body)

        with Loopback(handler) as server:
            result = predict(dataset, tmp_path / finish.split(":")[0], options(server))
        assert result.counts[status] == 2
        found = predictions(tmp_path / finish.split(":")[0])
        assert sum(one["answer_status"] == "answered" for one in found) == 1
