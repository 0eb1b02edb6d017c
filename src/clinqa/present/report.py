"""The page of an evaluation: into its file, and figures and tables into their folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from clinqa.core.cells import write_file
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.finished import Finished
from clinqa.core.manifest import Manifest, fingerprint
from clinqa.core.origin import made_up
from clinqa.core.outfolder import MANIFEST
from clinqa.core.records import DataClass, is_private
from clinqa.core.stage import Known, Made, Stage, Workplace, run_stage
from clinqa.kinds.facets.pages import ShownPage
from clinqa.kinds.facets.shows import Evaluation, PageAsked
from clinqa.present.audit.read import is_audit
from clinqa.present.audit.section import audit_section
from clinqa.present.canvas import marked, need_matplotlib
from clinqa.present.csv_latex import csv_of, latex_of
from clinqa.present.folders import FIGURES, read_folders
from clinqa.present.html import GENERATOR, html_of
from clinqa.present.page_options import PageOptions
from clinqa.present.paper import draw_plates

__all__ = ["WrittenPage", "made_page", "write_report"]

_OURS = f'<meta name="generator" content="{GENERATOR} '.encode()


@dataclass(frozen=True, slots=True)
class WrittenPage:
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
    options: PageOptions | None = None,
) -> WrittenPage:
    """Write the page of these SCORES folders, and with `figures` its pictures and tables too."""
    options = options or PageOptions()
    options.check()
    _refuse_foreign(page)
    _refuse_inside(page, scores)
    shown, evaluation = made_page(
        scores,
        title=options.title,
        examples=options.examples,
        file=page.name,
        accept=options.accept_changed,
    )
    files: Sequence[str] = ()
    if options.figures is not None:
        need_matplotlib()
        own = evaluation.reads if shown.own_tables else ()
        files = _write_files(
            partial(_files, shown, own, evaluation.origin), evaluation, options.figures, options
        )
    private = is_private(evaluation.data_class)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, html_of(shown, evaluation.data_class, evaluation.origin), private=private)
    return WrittenPage(
        page=page,
        runs=len(evaluation.runs),
        models=len({run.model for run in evaluation.runs}),
        figures=sum(len(found) for found in evaluation.figures.values()),
        tests=len(evaluation.tests),
        private=private,
        files=files,
        warnings=evaluation.warnings,
    )


def made_page(
    scores: Sequence[Path],
    *,
    title: str = "",
    examples: bool = True,
    file: str = "report.html",
    accept: bool = False,
) -> tuple[ShownPage, Evaluation]:
    """The page of these SCORES folders, an AUDIT among them, as descriptions; and what it is of."""
    evaluation, audit, shows = read_folders(scores, accept=accept)
    section, plates = audit_section(audit, evaluation) if audit else (None, {})
    try:
        page = shows.page(evaluation, PageAsked(title, examples, file, section))
    except (KeyError, TypeError) as error:
        raise SourceError(f"{scores[0] / FIGURES}: lacks a part; score again") from error
    gaps = [asdict(gap) for gap in audit.gaps] if audit else []
    page = replace(page, figures={**page.figures, **plates}, data={**page.data, "gaps": gaps})
    return page, evaluation


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
                verb = Manifest.read(parent / MANIFEST, edited=True).verb
            except ConfigError:
                continue
            raise ConfigError(
                f"{page}: lies in {parent}, a folder that clinqa {verb} made; name a file "
                "elsewhere with -o"
            )


def _write_files(
    files: Callable[[], Mapping[str, bytes]],
    evaluation: Evaluation,
    folder: Path,
    options: PageOptions,
) -> Sequence[str]:
    """Figures as SVG and PDF, tables as CSV and LaTeX; counts and shares only, no record text."""

    def made(place: Workplace) -> Made:
        with marked(place.origin):
            for name, body in files().items():
                place.write(name, body)
        return Made(details={"scores_fingerprint": fingerprint(place.folder.identity)})

    prints = sorted(manifest.fingerprint for manifest in evaluation.manifests)
    decides = {"scores": prints, "files": ["svg", "pdf", "csv", "tex"]}
    result = run_stage(
        Stage(
            verb="report",
            holds="these figures",
            out=folder,
            options=options,
            data_class=DataClass(evaluation.data_class),
            origin=evaluation.origin,
            reads=evaluation.reads,
            known=lambda: Known({}, decides=decides),
            work=made,
            told=lambda done: {"files": [record.name for record in done.outputs]},
            libraries=("matplotlib", "pyarrow"),
        )
    )
    names: list[str] = result.counts["files"]
    return names


def _files(page: ShownPage, own: Sequence[Finished], origin: str) -> Mapping[str, bytes]:
    """Pictures and tables of the page; with `own`, tables that the SCORES folders list too."""
    made = {f"figures/{name}": body for name, body in draw_plates(page.figures).items()}
    for key, grid in page.tables().items():
        made[f"tables/{key}.csv"] = csv_of(grid).encode("utf-8")
        made[f"tables/{key}.tex"] = latex_of(grid, made_up(origin)).encode("utf-8")
    for one in own:
        if is_audit(one.folder):
            continue
        for name in one.names("tables/", ".csv"):
            made.setdefault(name, one.read(name))
    return made
