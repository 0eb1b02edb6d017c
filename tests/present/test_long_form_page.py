"""The page, read as a browser would: what it shows, what it never shows, is it well made."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import CheckFailed, ConfigError, SourceError
from clinqa.kinds.long_form.claims import summary
from clinqa.present.folders import read_folders
from clinqa.present.page_options import PageOptions
from clinqa.present.report import write_report
from present.made_scores import RUNS, SIGNATURES, seal, write_scores
from present.pages import render, tables_of
from sealing import edit_manifest

EVIL = "</script><img src=x onerror=alert(1)><style>*{}</style>&amp;"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scores(tmp_path_factory.mktemp("made") / "scores")


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return render(folder)


class Reader(HTMLParser):
    """Tags with their attributes, and text by the tag it stands in."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in {"meta", "link", "img", "br", "wbr", "hr", "input"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"{tag} closes {self.open[-1:]}"
        self.open.pop()


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_every_tag_closes_and_every_id_is_given_once(html: str) -> None:
    ids = read(html).ids
    assert len(ids) == len(set(ids))


def test_every_reference_inside_the_page_has_its_target(html: str) -> None:
    reader = read(html)
    wanted = {attrs["href"][1:] for tag, attrs in reader.tags if tag == "a" and attrs.get("href")}
    for _, attrs in reader.tags:
        for name in ("aria-labelledby", "aria-describedby"):
            wanted |= set((attrs.get(name) or "").split())
    assert wanted <= set(reader.ids)


def test_nothing_runs_and_nothing_is_fetched(html: str) -> None:
    for tag, attrs in read(html).tags:
        assert tag not in {"iframe", "object", "embed", "img", "form", "base"}
        assert tag != "script" or attrs.get("type") == "application/json"
        assert not any(name.startswith("on") or name in ("style", "src") for name in attrs)
        assert (attrs.get("href") or "#").startswith(("#", "data:,"))
    assert "url(" not in html and "@import" not in html


def test_the_policy_allows_the_one_style_sheet_by_its_hash_and_no_script(html: str) -> None:
    style = re.search(r"<style>(.*?)</style>", html, re.S)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(a["content"] for t, a in read(html).tags if a.get("http-equiv"))
    assert policy and f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "script-src 'none'" in policy


def test_text_of_models_and_records_is_never_markup(tmp_path: Path) -> None:
    def spoil(data: dict[str, Any]) -> None:
        for entry in (*data["figures"], *data["meta"]["runs"]):
            entry["model"] = EVIL
        data["meta"]["dataset"]["name"] = EVIL
        data["meta"]["warnings"] = [EVIL]
        for figure in data["figures"]:
            figure["signature"] += EVIL

    text = {"answer": EVIL, "reference": EVIL, "source": EVIL + "x"}
    made = write_scores(tmp_path / "s", change=spoil, text=text)
    html = render(made, title=EVIL)
    assert "<img" not in html and html.count("<style") == 1 and html.count("<script") == 1
    read(html)


def test_the_figures_inlined_for_programs_are_those_of_the_folder(html: str, folder: Path) -> None:
    inlined = re.search(r'id="clinqa-figures">(.*?)</script>', html, re.S)
    assert inlined is not None and "<" not in inlined[1]
    there = json.loads((folder / "scores.json").read_text())
    assert len(json.loads(inlined[1])["figures"]) == len(there["figures"])


def test_the_same_scores_give_the_same_page(folder: Path, html: str) -> None:
    assert render(folder) == html


def test_tables_have_captions_and_their_headings_a_scope(html: str) -> None:
    reader = read(html)
    tables = [attrs for tag, attrs in reader.tags if tag == "table"]
    assert len(tables) == html.count("<caption") > 8
    assert all(attrs.get("scope") for tag, attrs in reader.tags if tag == "th")


def test_every_chart_has_a_title_a_description_and_a_table_of_its_numbers(html: str) -> None:
    charts = re.findall(r'<svg class="chart".*?</svg>', html, re.S)
    assert len(charts) >= 4
    for chart in charts:
        assert 'role="img"' in chart and "<title" in chart and "<desc" in chart
    for section in ("results", "errors", "by-abnormality", "by-level"):
        assert f'id="table-{section}"' in html


def test_landmarks_language_title_and_skip_link_are_there(html: str) -> None:
    tags = [tag for tag, _ in read(html).tags]
    assert tags.count("main") == tags.count("nav") == tags.count("h1") == 1
    assert '<html lang="en">' in html and '<a class="skip" href="#main">' in html
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_restricted_pages_carry_the_banner_and_are_for_their_owner(
    folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "r.html"
    written = write_report([folder], page)
    assert written.private and stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "Data class: restricted." in page.read_text() and 'class="banner"' in page.read_text()


def test_without_examples_no_text_of_a_record_is_left(tmp_path: Path) -> None:
    text = {"answer": "ZEBRA", "reference": "QUAGGA", "source": "OKAPI"}
    folder = write_scores(tmp_path / "s", text=text)
    page = tmp_path / "r.html"
    write_report([folder], page)
    assert all(word in page.read_text() for word in text.values())
    write_report([folder], page, PageOptions(examples=False))
    assert not any(word in page.read_text() for word in text.values())
    assert stat.S_IMODE(page.stat().st_mode) == 0o600 and 'class="banner"' in page.read_text()


def test_a_class_nobody_knows_is_named(tmp_path: Path) -> None:
    folder = write_scores(tmp_path / "s")
    edit_manifest(folder, lambda body: body.update(data_class="secret-ish"))
    with pytest.raises(ConfigError, match=r"manifest\.json: no such data class"):
        read_folders([folder])


def test_public_scores_have_no_banner(tmp_path: Path) -> None:
    folder = write_scores(tmp_path / "s", data_class="public")
    assert 'class="banner"' not in render(folder)


def test_no_run_is_called_best_without_a_test(tmp_path: Path) -> None:
    html = render(write_scores(tmp_path / "s", tested=False))
    assert 'class="m"' not in html and "no adjusted paired test" in html
    assert "no run is called best" in html


def test_figures_of_two_signatures_never_share_a_column(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        for figure in data["figures"]:
            if figure["metric"] == "bleu" and figure["model"].startswith("baseline"):
                figure["signature"] = "bleu|another"

    table = tables_of(write_scores(tmp_path / "s", change=change))["results"]
    columns = [n for n, column in enumerate(table.columns) if column.title == "BLEU"]
    assert len(columns) == 2
    for row in table.rows:
        shown = [row.cells[n].value is not None for n in columns]
        assert sorted(shown) == [False, True]
    assert {text for _, text in table.footnotes} >= {
        f"BLEU: {SIGNATURES['bleu']}",
        "BLEU: bleu|another",
    }


def test_a_missing_figure_is_a_dash_with_its_reason(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        run = data["figures"][0]["run"]
        data["figures"] = [
            f for f in data["figures"] if not (f["run"] == run and f["metric"] == "meteor")
        ]
        data["meta"]["missing"] = [{"run": run, "metric": "meteor", "reason": "no WordNet here"}]

    html = render(write_scores(tmp_path / "s", change=change))
    assert "no WordNet here" in html
    assert "nan" not in re.sub(r"<[^>]*>", " ", html).lower().split()


def test_repeats_say_what_varied_and_one_deterministic_pass_has_no_spread(
    folder: Path,
) -> None:
    table = tables_of(folder)["results"]
    repeats = [c.key for c in table.columns].index("repeats")
    by_label = {row.head: row for row in table.rows}
    one, three = by_label["baseline:prior, 0-shot"], by_label["hf:BioMistral-7B, 3-shot"]
    assert one.cells[repeats].text == "1, deterministic" and one.cells[0].spread == ""
    assert three.cells[repeats].text == "3, shots varied" and three.cells[0].spread.startswith("± ")


def test_kinds_of_error_and_no_answer_make_the_whole(folder: Path) -> None:
    for row in tables_of(folder)["errors"].rows:
        assert sum(cell.value or 0.0 for cell in row.cells) == pytest.approx(1.0)


def test_dangerous_errors_are_counts_of_the_items_at_risk(folder: Path) -> None:
    table = tables_of(folder)["dangerous"]
    cells = [cell for row in table.rows for cell in row.cells if cell.value is not None]
    assert cells and all(re.fullmatch(r"[\d.]+ of \d+", cell.text) for cell in cells)
    assert all(cell.interval for cell in cells)


def told_apart(tmp_path: Path, p: float | None) -> str:
    """What the page says first of two runs of which the one answered four items in five."""

    def change(data: dict[str, Any]) -> None:
        one, two = (run["run"] for run in data["meta"]["runs"])
        data["tests"] = [test for test in data["tests"] if test["metric"] != "status_answered"]
        if p is not None:
            made = {**data["tests"][0], "a": one, "b": two, "metric": "status_answered"}
            data["tests"].append({**made, "p": p, "p_holm": None, "signature": "status"})
        for figure in data["figures"]:
            if figure["metric"] == "status_answered":
                figure["value"] = 1.0 if figure["run"] == one else 0.8
                figure["low"] = figure["high"] = None

    folder = write_scores(tmp_path / f"s{p}", RUNS[:2], change=change)
    evaluation, _, _ = read_folders([folder])
    return " ".join(summary(evaluation))


def test_runs_that_did_not_answer_alike_are_not_ranked_on_dangerous_errors(tmp_path: Path) -> None:
    apart = told_apart(tmp_path, 0.01)
    assert "the runs are not ranked" in apart and "any kind: from" not in apart
    # nobody tested it, and the shares differ
    assert "the runs are not ranked" in told_apart(tmp_path, None)
    alike = told_apart(tmp_path, 0.4)
    assert "not ranked" not in alike and "Dangerous errors of any kind: from" in alike


def test_the_rate_of_dangers_stands_of_all_and_of_answered_items_beside_the_share(
    folder: Path,
) -> None:
    keys = [column.key for column in tables_of(folder)["dangerous"].columns]
    assert keys[:3] == ["any", "answered", "status_answered"]


def test_several_folders_stand_on_one_page(tmp_path: Path) -> None:
    first = write_scores(tmp_path / "a", RUNS[:4])
    second = write_scores(tmp_path / "b", RUNS[3:])
    evaluation, _, _ = read_folders([first, second])
    assert len(evaluation.runs) == len(RUNS)
    render(first, second)


def test_scores_of_two_datasets_are_not_put_together(tmp_path: Path) -> None:
    first = write_scores(tmp_path / "a", RUNS[:2])

    def change(data: dict[str, Any]) -> None:
        data["meta"]["dataset"]["fingerprint"] = "0" * 64

    second = write_scores(tmp_path / "b", RUNS[2:], change=change)
    with pytest.raises(ConfigError, match="another dataset"):
        read_folders([first, second])


def test_one_run_with_two_sets_of_figures_is_refused(tmp_path: Path) -> None:
    first, second = (
        write_scores(tmp_path / "a", RUNS[:2]),
        write_scores(tmp_path / "b", RUNS[:2], seed=2),
    )
    with pytest.raises(ConfigError, match="again with other figures"):
        read_folders([first, second])


def test_two_runs_of_one_model_have_labels_of_their_own(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        for entry in (*data["figures"], *data["meta"]["runs"]):
            entry["model"], entry["shots"] = "hf:same", 0

    labels = [
        run.label for run in read_folders([write_scores(tmp_path / "s", change=change)])[0].runs
    ]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    "spoilt", ["[]", '{"figures": 3}', '{"figures": [{"run": "SECRET"}]}', "{"]
)
def test_spoilt_scores_are_an_error_that_quotes_nothing(tmp_path: Path, spoilt: str) -> None:
    folder = write_scores(tmp_path / "s", RUNS[:2])
    (folder / "scores.json").write_text(spoilt)
    seal(folder)
    with pytest.raises(SourceError, match=r"scores\.json") as caught:
        read_folders([folder])
    assert "SECRET" not in str(caught.value)


def test_an_unfinished_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="so no complete scores"):
        read_folders([tmp_path])


def test_a_file_of_somebody_else_is_not_replaced_but_our_page_is(
    folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "r.html"
    page.write_text("<html>mine</html>")
    with pytest.raises(ConfigError, match="not a page of clinqa report"):
        write_report([folder], page)
    page.unlink()
    write_report([folder], page)
    write_report([folder], page, PageOptions(title="Again"))
    assert "<title>Again</title>" in page.read_text()


def test_a_page_is_not_written_through_a_link(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.html"
    (tmp_path / "r.html").symlink_to(target)
    with pytest.raises(ConfigError, match="symbolic link"):
        write_report([folder], tmp_path / "r.html")
    assert not target.exists()


def test_bare_scores_without_any_meta_still_make_a_page(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data["meta"] = {}
        data["tests"] = []

    html = render(write_scores(tmp_path / "s", RUNS[:2], change=change))
    assert "Group not stated" in html
    read(html)


def test_keys_in_commands_are_hidden(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data["meta"]["runs"][0]["command"] = ["clinqa", "predict", "--api-key", "HUSH"]

    assert "HUSH" not in render(write_scores(tmp_path / "s", change=change))


def test_figures_and_tables_lie_in_their_folder_and_are_the_same_bytes_again(
    folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    page = tmp_path / "r.html"
    first = write_report([folder], page, PageOptions(figures=tmp_path / "a"))
    write_report([folder], page, PageOptions(figures=tmp_path / "b"))
    names = set(first.files)
    assert {
        "figures/results.svg",
        "figures/errors.pdf",
        "tables/results.csv",
        "tables/results.tex",
    } <= names
    for name in names:
        one, two = tmp_path / "a" / name, tmp_path / "b" / name
        assert one.read_bytes() == two.read_bytes()
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    again = write_report([folder], page, PageOptions(figures=tmp_path / "a"))
    assert set(again.files) == names


def test_a_figures_folder_of_somebody_else_is_refused(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "thesis.tex").write_text("mine")
    with pytest.raises(ConfigError, match="not clinqa's"):
        write_report([folder], tmp_path / "r.html", PageOptions(figures=tmp_path / "f"))
    assert (tmp_path / "f" / "thesis.tex").read_text() == "mine"


def test_runs_over_other_items_are_said_to_be_so(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        for figure in data["figures"]:
            if figure["model"] == "baseline:prior" and not figure["subset"]:
                figure["n"] -= 7

    html = render(write_scores(tmp_path / "s", change=change))
    assert html.count("did not all answer the same questions") == 2


def test_a_human_sample_stands_beside_the_labeller(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        figure = next(f for f in data["figures"] if f["metric"] == "level_accuracy")
        data["figures"].append({**figure, "metric": "level_accuracy_corrected", "value": 0.61})
        judged = {"run": figure["run"], "n": 30, "agreement": 0.9, "labeller_alone": 0.64}
        data["meta"]["human"] = {"n": 30, "runs": [judged]}

    folder = write_scores(tmp_path / "s", change=change)
    assert tables_of(folder)["human"].rows[0].cells[4].text == "0.610"
    assert "A human sample of 30 answers was given" in render(folder)


@pytest.mark.parametrize("name", ["scores.json", "items.parquet"])
def test_a_file_changed_since_it_was_scored_is_refused(tmp_path: Path, name: str) -> None:
    folder = write_scores(tmp_path / "s", RUNS[:2])
    with (folder / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(CheckFailed, match=re.escape(name)):
        read_folders([folder])


def test_the_same_scores_twice_and_a_page_among_scores_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="given twice"):
        read_folders([folder, folder])
    with pytest.raises(ConfigError, match="lies in"):
        write_report([folder], folder / "r.html")
    assert not (folder / "r.html").exists()


def test_control_characters_are_shown_as_signs(tmp_path: Path) -> None:
    text = {"answer": "a\x00b\x1b[31mc\u202ed"}
    html = render(write_scores(tmp_path / "s", RUNS[:2], text=text))
    assert not set("\x00\x1b\u202e") & set(html)
    assert "a\\x00b\\x1b[31mc\\u202ed" in html


def test_highest_is_said_only_where_the_adjusted_test_says_so(tmp_path: Path) -> None:
    evaluation, _, _ = read_folders([write_scores(tmp_path / "s", tested=False)])
    assert "highest" not in " ".join(summary(evaluation))


def test_the_name_of_a_variable_is_shown(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        command = ["clinqa", "predict", "--api-key-env", "MY_KEY"]
        data["meta"]["runs"][0]["command"] = command

    html = render(write_scores(tmp_path / "s", change=change))
    assert "--api-key-env MY_KEY" in html


def test_figures_of_other_items_in_a_column_say_their_n(folder: Path) -> None:
    grid = tables_of(folder)["levels"]
    for at in range(len(grid.columns)):
        sizes = {row.cells[at].n for row in grid.rows if row.cells[at].value is not None}
        told = [grid.told_n(row, at) for row in grid.rows if row.cells[at].value is not None]
        assert told == [row.cells[at].n if len(sizes) > 1 else None for row in grid.rows
                        if row.cells[at].value is not None]  # fmt: skip
    assert all(cell.n for row in grid.rows for cell in row.cells if cell.value is not None)
