"""What servers really reply, from public threads: status, requests, exit code and message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asking.made_dataset import rows, write_dataset
from asking.public_replies import REPLIES, PublicReply
from clinqa.cli import main
from loopback import Loopback, Request


def test_there_are_twenty_in_two_halves() -> None:
    assert len({one.where for one in REPLIES}) == 20
    assert sorted(one.half for one in REPLIES) == ["seen"] * 10 + ["unseen"] * 10


@pytest.mark.parametrize("told", REPLIES, ids=[one.where for one in REPLIES])
def test_a_reply_comes_to_what_it_means(
    told: PublicReply,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if told.model.startswith("bedrock"):
        pytest.importorskip("botocore", reason="the extra `cloud` is not installed")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAMADEUP")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "made-up")
    dataset = write_dataset(tmp_path / "dataset", test=rows(["t1"]))
    seen: list[Request] = []

    def handler(request: Request) -> object:
        seen.append(request)
        return told.answer(request, len(seen))

    out = tmp_path / "run"
    with Loopback(handler) as server:  # type: ignore[arg-type]
        url = f"{server.url}{told.path}"
        asked = ["predict", str(dataset), "--out", str(out), "--model", told.model]
        code = main([*asked, "--base-url", url, "--json", *told.more])
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    said = " ".join([found["error"] or "", *found["warnings"], printed.err])
    assert (code, len(seen)) == (told.ends, told.requests), said
    assert {k: n for k, n in found["counts"].items() if k in told.statuses} == told.statuses
    assert sum(told.statuses.values()) == (3 if code == 0 else 0)
    for word in told.words:
        assert word in said
