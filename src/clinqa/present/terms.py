"""Pictures of clinical terms: the overlap of train and test, and what models give the terms."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinqa.core.cells import write_file
from clinqa.core.errors import ConfigError, MissingExtra
from clinqa.core.figures import Figure as Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_overlap"]

FORMATS = ("svg", "pdf", "png")
_METADATA: Mapping[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "clinqa"},
    "pdf": {"CreationDate": None, "Creator": "clinqa", "Producer": "clinqa"},
    "png": {"Software": "clinqa"},
}


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one ground; `low` and `high` are the ends of a scale."""

    ground: str
    ink: str
    soft: str
    faint: str
    low: str
    high: str
    on_high: str
    mark: str
    before: str


LIGHT = Theme(
    "#ffffff", "#1d2329", "#5b656d", "#e3e7ea", "#f4f7f9", "#0b5c94", "#ffffff", "#d55e00",
    "#8b969e",
)  # fmt: skip
DARK = Theme(
    "#15191d", "#eef1f3", "#a4adb5", "#353c43", "#1c2227", "#6fb7e6", "#0b1116", "#f0a35e",
    "#8f9aa3",
)  # fmt: skip


def plot_overlap(
    figures: Sequence[Value], path: Path, *, dark: bool = False, private: bool = False
) -> None:
    """The matrix of `term_overlap`: a row a specialty of train, a column one of test."""
    cells = {(f.subset["train"], f.subset["test"]): f for f in figures}
    rows = list(dict.fromkeys(f.subset["train"] for f in figures))
    columns = list(dict.fromkeys(f.subset["test"] for f in figures))
    theme = DARK if dark else LIGHT
    longest = max(map(len, [*rows, *columns]), default=0)
    aside = 0.075 * longest + 0.35
    width = aside + 0.62 * len(columns) + 0.5
    height = aside * 0.8 + 0.34 * len(rows) + 1.0
    with canvas(path, theme, max(width, 5.6), max(height, 3.0), private) as figure:
        axes = figure.subplots()
        _matrix(axes, cells, rows, columns, theme)
        figure.suptitle(
            "Terms of the test questions that stand in the training questions",
            fontsize=10, fontweight="bold", x=0.01, ha="left",
        )  # fmt: skip


def _matrix(
    axes: Axes,
    cells: Mapping[tuple[str, str], Value],
    rows: Sequence[str],
    columns: Sequence[str],
    theme: Theme,
) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    scale = LinearSegmentedColormap.from_list("overlap", [theme.low, theme.high])
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            value = cells[row, column].value
            shade = scale(value or 0.0)
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, lw=0))
            text = "–" if value is None else f"{value:.2f}"
            ink = max((theme.on_high, theme.ink), key=lambda one: _contrast(one, shade))
            axes.text(
                x, y, text, ha="center", va="center", fontsize=8, color=ink,
                fontweight="bold" if row == column else "normal",
            )  # fmt: skip
            if row == column:
                axes.add_patch(
                    Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, fill=False, edgecolor=theme.mark)
                )
    n = {column: next(c.n for (_, at), c in cells.items() if at == column) for column in columns}
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(
        range(len(columns)), [f"{column} ({n[column]})" for column in columns],
        rotation=40, ha="right", rotation_mode="anchor",
    )  # fmt: skip
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xlabel("test (distinct terms, the denominator)")
    axes.set_ylabel("train")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _contrast(one: Any, other: Any) -> float:
    """The ratio of two colours' luminances, from 1 to 21 (WCAG)."""
    from matplotlib.colors import to_rgb

    lights = []
    for colour in (one, other):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return float(max(lights) / min(lights))


@contextmanager
def canvas(
    path: Path, theme: Theme, width: float, height: float, private: bool
) -> Iterator[Figure]:
    """A figure to draw on; it is written when the drawing is over. The ending says the format."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise ConfigError(f"{path}: a picture is .svg, .pdf or .png")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("plots", "matplotlib") from error
    settings: dict[Any, Any] = {
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "svg.hashsalt": "clinqa",
        "pdf.fonttype": 42,
        "text.color": theme.ink,
        "axes.facecolor": theme.ground,
        "axes.edgecolor": theme.soft,
        "axes.labelcolor": theme.soft,
        "xtick.color": theme.ink,
        "ytick.color": theme.ink,
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(width, height), facecolor=theme.ground, layout="constrained")
        yield figure
        file = io.BytesIO()
        figure.savefig(file, format=kind, facecolor=theme.ground, metadata=_METADATA[kind], dpi=160)
    write_file(path, file.getvalue(), private=private)
