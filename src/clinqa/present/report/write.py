"""The page into its file, and figures and tables into their folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clinqa import __version__
from clinqa.core.cells import write_file
from clinqa.core.data_class import is_private
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest, fingerprint, library_versions
from clinqa.core.outfolder import MANIFEST, create_file, open_out
from clinqa.present.report.fairness.read import is_audit
from clinqa.present.report.html import GENERATOR
from clinqa.present.report.page import all_tables, render
from clinqa.present.report.plots import draw_figures, need_matplotlib
from clinqa.present.report.read import Evaluation, read_scores
from clinqa.present.report.tables import csv_of, latex_of

if TYPE_CHECKING:
    from clinqa.present.panel.read import Panel

__all__ = ["Written", "write_report"]

_OURS = f'<meta name="generator" content="{GENERATOR} '.encode()


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, in numbers, and what to warn of."""

    page: Path
    runs: int
    models: int
    figures: int
    tests: int
    private: bool
    files: Sequence[str] = ()
    warnings: Sequence[str] = field(default=())


def write_report(
    scores: Sequence[Path],
    page: Path,
    *,
    title: str = "",
    examples: bool = True,
    figures: Path | None = None,
    fresh: bool = False,
    command: Sequence[str] = (),
) -> Written:
    """Write the page of these SCORES folders, and with `figures` its pictures and tables too."""
    _refuse_foreign(page)
    _refuse_inside(page, scores)
    from clinqa.present.panel.read import is_panel  # it draws with what this package draws with

    audits = [folder for folder in scores if is_audit(folder)]
    rest = [folder for folder in scores if folder not in audits]
    if any(is_panel(folder) for folder in rest):
        if figures is not None:
            need_matplotlib()
        return _write_panel(
            rest, audits, page, title=title, figures=figures, fresh=fresh, command=command
        )
    from clinqa.present.choice.read import are_choices

    if any(are_choices(folder) for folder in rest):
        from clinqa.present.choice.write import write_choices

        return write_choices(scores, page, title=title, figures=figures)
    if figures is not None:
        need_matplotlib()
    evaluation = read_scores(scores)
    private = is_private(evaluation.data_class)
    html = render(evaluation, title=title, examples=examples, page=page.name)
    files: Sequence[str] = ()
    if figures is not None:
        given = evaluation.manifests, evaluation.data_class
        files = _write_files(lambda: _files(evaluation), *given, figures, fresh, command)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, html, private=private)
    return Written(
        page=page,
        runs=len(evaluation.runs),
        models=len({run.model for run in evaluation.runs}),
        figures=sum(len(found) for found in evaluation.figures.values()),
        tests=len(evaluation.tests),
        private=private,
        files=files,
        warnings=evaluation.warnings,
    )


def _write_panel(
    scores: Sequence[Path],
    audits: Sequence[Path],
    page: Path,
    *,
    title: str,
    figures: Path | None,
    fresh: bool,
    command: Sequence[str],
) -> Written:
    """The page of true_false scores, with an audit if there is one, and its figures and tables."""
    from clinqa.present.panel.page import render_panel
    from clinqa.present.panel.read import read_panel

    if len(scores) > 1:
        raise ConfigError(
            "a page holds one panel of true_false scores; other sets come in through "
            "clinqa score --against"
        )
    if len(audits) > 1:
        raise ConfigError(f"{audits[1]}: a page holds one audit; report each by itself")
    panel = read_panel(scores[0], audits[0] if audits else None)
    private = is_private(panel.data_class)
    html = render_panel(panel, title=title, page=page.name)
    files: Sequence[str] = ()
    if figures is not None:
        given = (panel.manifest,), panel.data_class
        files = _write_files(
            lambda: _panel_files(panel, scores[0]), *given, figures, fresh, command
        )
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, html, private=private)
    return Written(
        page=page,
        runs=len(panel.runs),
        models=len({run.about["model"] for run in panel.runs}),
        figures=sum(len(found) for found in panel.figures.values()),
        tests=len(panel.tests),
        private=private,
        files=files,
        warnings=tuple(panel.meta.get("warnings") or ()),
    )


def _refuse_foreign(page: Path) -> None:
    """An earlier page of ours is replaced; anybody else's file is not."""
    if page.is_symlink():
        raise ConfigError(f"{page}: is a symbolic link; give the file itself")
    if page.is_dir():
        raise ConfigError(f"{page}: is a folder; name a file such as {page / 'report.html'}")
    if not page.exists():
        return
    with page.open("rb") as file:
        if _OURS not in file.read(4096):
            raise ConfigError(f"{page}: is not a page of clinqa report; name another with -o")


def _refuse_inside(page: Path, scores: Sequence[Path]) -> None:
    """No page is put into a folder that another verb made: its manifest would not list it."""
    given = {folder.resolve() for folder in scores}
    for parent in page.resolve().parents:
        if parent in given:
            raise ConfigError(f"{page}: lies in a SCORES folder; name a file elsewhere with -o")
        if (parent / MANIFEST).is_file():
            try:
                verb = Manifest.read(parent / MANIFEST).verb
            except ConfigError:
                continue
            raise ConfigError(
                f"{page}: lies in {parent}, a folder that clinqa {verb} made; name a file "
                "elsewhere with -o"
            )


def _write_files(
    files: Callable[[], Mapping[str, bytes]],
    manifests: Sequence[Manifest],
    data_class: str,
    folder: Path,
    fresh: bool,
    command: Sequence[str],
) -> Sequence[str]:
    """Figures as SVG and PDF, tables as CSV and LaTeX; counts and shares only, no record text."""
    private = is_private(data_class)
    started = datetime.now(UTC)
    identity = {
        "verb": "report",
        "clinqa": __version__,
        "scores": sorted(manifest.fingerprint for manifest in manifests),
        "files": ["svg", "pdf", "csv", "tex"],
    }
    with open_out(folder, identity, fresh=fresh, private=private) as out:
        if out.done is not None:
            return [record.name for record in out.done.outputs]
        for name, body in files().items():
            path = out.partial / name
            path.parent.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
            with os.fdopen(create_file(path, private=private), "wb") as file:
                file.write(body)
        finished = datetime.now(UTC)
        manifest = out.commit(
            Manifest(
                verb="report",
                data_class=data_class,
                identity=identity,
                clinqa=__version__,
                command=command,
                started=started.isoformat(timespec="seconds"),
                finished=finished.isoformat(timespec="seconds"),
                seconds=round((finished - started).total_seconds(), 3),
                versions=library_versions(("matplotlib", "pyarrow")),
                details={"scores_fingerprint": fingerprint(identity)},
            )
        )
    return [record.name for record in manifest.outputs]


def _files(evaluation: Evaluation) -> Mapping[str, bytes]:
    made = {f"figures/{name}": body for name, body in draw_figures(evaluation).items()}
    for key, table in all_tables(evaluation).items():
        made[f"tables/{key}.csv"] = csv_of(table).encode("utf-8")
        made[f"tables/{key}.tex"] = latex_of(table).encode("utf-8")
    return made


def _panel_files(panel: Panel, scores: Path) -> Mapping[str, bytes]:
    """The panel's figures, its main table as LaTeX, and the tables as the scores have them."""
    from clinqa.present.panel.page import main_table
    from clinqa.present.panel.plots import draw_panel

    made = {f"figures/{name}": body for name, body in draw_panel(panel).items()}
    made["tables/main.tex"] = latex_of(main_table(panel)).encode("utf-8")
    listed = {record.name for record in panel.manifest.outputs}
    for path in sorted((scores / "tables").glob("*.csv")):
        if f"tables/{path.name}" in listed:
            made[f"tables/{path.name}"] = path.read_bytes()
    return made
