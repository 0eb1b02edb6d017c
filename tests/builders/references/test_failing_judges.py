"""A judge that fails lets nothing in; replies that fail make no drafts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from builders.failing import Failing, failing
from clinqa.builders.references.pipeline import build_references
from clinqa.builders.references.reference_options import ReferenceOptions
from clinqa.builders.references.replies import read_verdict
from clinqa.core.manifest import Manifest
from loopback import Loopback, Reply, Request, reply
from made_pages import made_pdf

P_WAVE = "The P wave represents depolarization of the atria."
PR = "The normal PR interval is 120 to 200 ms."
PAGE = f"{P_WAVE} {PR} The QRS complex represents depolarization of the ventricles."
YES, NO = '{"verdict": "yes"}', '{"verdict": "no"}'
ASKED = f"=== 0 ===\nStatement: {P_WAVE}\nSource: {P_WAVE}\n=== 0 ==="
KINDS = failing(YES, NO, ASKED, '{"verdict": "ja"}')
WHY = {
    "a refusal": "refusal", "a content filter": "refusal", "cut off": "cut_off",
    "HTTP 400": "bad_output", "HTTP 500": "server", "a timeout": "timeout", "nothing": "empty",
    "another language": "no_verdict",
}  # fmt: skip


def drafts() -> str:
    found = [
        {"question": one, "label": "True", "source": one, "topic": "x"} for one in (P_WAVE, PR)
    ]
    return json.dumps({"questions": found})


def script(path: Path, lines: Sequence[dict[str, str | None]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{path}"


def built(tmp_path: Path, lines: Sequence[dict[str, str | None]], **more: object) -> Manifest:
    model = script(tmp_path / "script.jsonl", lines)
    options = ReferenceOptions(generator="llm", model=model, **more)  # type: ignore[arg-type]
    build_references([made_pdf(tmp_path / "a.pdf", [PAGE])], tmp_path / "out", options)
    return Manifest.read(tmp_path / "out" / "manifest.json")


@pytest.mark.parametrize("kind", KINDS)
def test_a_judge_that_fails_is_counted_and_is_never_a_yes(tmp_path: Path, kind: str) -> None:
    made = built(
        tmp_path,
        [
            KINDS[kind].rule(f"Statement: {P_WAVE}"),
            Failing(YES).rule("Statement: "),
            Failing(drafts()).rule(None),
        ],
        judge=True,
    )
    assert made.counts["pairs"].rejected_by_reason == {"no_verdict": 1}
    assert made.counts["pairs"].kept == 1
    (why,) = made.details["judge"].pop("none")
    assert made.details["judge"] == {"statements": 4, "yes": 3, "no": 0}
    assert why == WHY.get(kind, why) and why in {
        "refusal", "cut_off", "bad_output", "server", "timeout", "empty", "no_verdict",
        "not_json_alone", "two_verdicts",
    }  # fmt: skip
    assert any("no verdict on 1 of 4 statements" in line for line in made.warnings)
    rejects = pq.ParquetFile(tmp_path / "out" / "rejects.parquet").read().to_pylist()
    assert [row["detail"] for row in rejects if row["reason"] == "no_verdict"] == [why]


WHOLE = ("two verdicts", "a verdict inside a denial", "cut off", "half of JSON", "another language")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WHOLE])
def test_replies_that_fail_make_no_drafts(tmp_path: Path, kind: str) -> None:
    """In the others whole items stand, which rules check whatever stands around them."""
    told = failing(drafts(), "not that", f"=== 0 ===\n{PAGE}\n=== 0 ===", "")[kind]
    made = built(tmp_path, [told.rule(None)])
    assert made.counts["pairs"].kept == 0 and made.counts["drafts"].kept == 0
    assert made.counts["drafts"].rejected == 1


@pytest.mark.parametrize("kind", WHOLE)
def test_what_stands_whole_in_a_reply_that_fails_counts_only_as_rules_confirm(
    tmp_path: Path, kind: str
) -> None:
    wrong = drafts().replace("120 to 200", "100 to 300").replace("atria", "ventricles")
    told = failing(wrong, wrong, "", wrong)[kind]
    made = built(tmp_path, [told.rule(None)])
    assert made.counts["pairs"].kept == 0 and made.counts["drafts"].rejected >= 1


def test_two_verdicts_in_one_object_are_none() -> None:
    assert read_verdict('{"verdict": "no", "verdict": "yes"}').why == "two_verdicts"
    assert read_verdict('{"Verdict": "no", "verdict": "yes"}').why == "two_verdicts"
    assert read_verdict('{"verdict": "yes", "why": "it says so"}').holds is True
    assert read_verdict('<think>{"verdict": "no"}</think>\n```json\n{"verdict": "yes"}\n```').holds


def test_a_judge_behind_a_server_that_refuses_all_it_asks_lets_nothing_in(tmp_path: Path) -> None:
    """And it is asked without the schema of drafts, which leaves no room for a verdict."""
    judged: list[Request] = []

    def handler(request: Request) -> Reply:
        if "Statement:" in request.json["messages"][-1]["content"]:
            judged.append(request)
            return reply({"error": {"message": "no such thing"}}, 400)
        assert "response_format" in request.json
        message = {"message": {"content": drafts()}, "finish_reason": "stop"}
        return reply({"choices": [message]})

    with Loopback(handler) as server:
        options = ReferenceOptions(
            generator="llm", model="openai:m", base_url=server.url, judge=True, max_parallel=1
        )
        pdf = made_pdf(tmp_path / "a.pdf", [PAGE])
        build_references([pdf], tmp_path / "out", options)
    made = Manifest.read(tmp_path / "out" / "manifest.json")
    assert made.counts["pairs"].rejected_by_reason == {"no_verdict": 2}
    assert made.details["judge"]["none"] == {"bad_output": 4} and len(judged) == 4
    assert all("response_format" not in request.json for request in judged)
