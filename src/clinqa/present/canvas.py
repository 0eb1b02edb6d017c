"""What every picture is drawn on: two themes, one set of letters, the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinqa.core.cells import write_file
from clinqa.core.errors import ConfigError, MissingExtra
from clinqa.core.origin import made_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "DARK",
    "FORMATS",
    "LIGHT",
    "Theme",
    "canvas",
    "letters",
    "marked",
    "need_matplotlib",
    "picture_kind",
    "saved",
]

FORMATS = ("svg", "pdf", "png")
_METADATA: Mapping[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "clinqa"},
    "pdf": {"CreationDate": None, "Creator": "clinqa", "Producer": "clinqa"},
    "png": {"Software": "clinqa"},
}


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one ground.

    `low` to `high` is a scale of shares, with the letters that can be read on its end; `below`
    over `middle` to `above` one around a mean; `box` and `kept` are grounds of boxes, `mark` is
    what stands out, and `before` what it is compared with.
    """

    ground: str
    ink: str
    soft: str
    faint: str
    box: str
    kept: str
    low: str
    high: str
    on_high: str
    below: str
    middle: str
    above: str
    mark: str
    before: str


LIGHT = Theme(
    "#ffffff", "#1d2329", "#5b656d", "#e3e7ea", "#f4f6f7", "#e3f0f8", "#f4f7f9", "#0b5c94",
    "#ffffff", "#c8742c", "#f4f6f7", "#2878b5", "#d55e00", "#8b969e",
)  # fmt: skip
DARK = Theme(
    "#15191d", "#eef1f3", "#a4adb5", "#353c43", "#20262c", "#1d3a4d", "#1c2227", "#6fb7e6",
    "#0b1116", "#b5692a", "#23292f", "#2f7fbb", "#f0a35e", "#8f9aa3",
)  # fmt: skip


def need_matplotlib() -> None:
    """Say how to get matplotlib before any work is done, not after."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtra("plots", "matplotlib") from error


def picture_kind(path: Path) -> str:
    """The format that a file's ending says; ConfigError for one that is none of FORMATS."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise ConfigError(f"{path}: a picture is .svg, .pdf or .png")
    return kind


@contextmanager
def letters(theme: Theme = LIGHT, size: float = 9) -> Iterator[None]:
    """Letters, lines and colours of all pictures, for as long as one is drawn."""
    need_matplotlib()
    import matplotlib

    settings: dict[Any, Any] = {
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters everywhere
        "font.size": size,
        "svg.hashsalt": "clinqa",
        "pdf.fonttype": 42,
        "hatch.linewidth": 0.7,
        "text.color": theme.ink,
        "axes.axisbelow": True,
        "axes.facecolor": theme.ground,
        "axes.edgecolor": theme.soft,
        "axes.labelcolor": theme.soft,
        "grid.color": theme.faint,
        "grid.linewidth": 0.7,
        "xtick.color": theme.soft,
        "ytick.color": theme.soft,
        "ytick.labelcolor": theme.ink,
    }
    with matplotlib.rc_context(settings):
        yield


_ORIGIN = ContextVar("origin", default="")


@contextmanager
def marked(origin: str) -> Iterator[None]:
    """Pictures that are saved meanwhile say that they are of made-up data, where they are."""
    before = _ORIGIN.set(origin)
    try:
        yield
    finally:
        _ORIGIN.reset(before)


def saved(figure: Figure, kind: str, **more: Any) -> bytes:
    """The picture as a file of a kind of FORMATS."""
    if mark := made_up(_ORIGIN.get()):
        figure.text(0.995, 0.0, mark, ha="right", va="top", fontsize=7, fontweight="bold")
        more.setdefault("bbox_inches", "tight")
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata=_METADATA[kind], **more)
    return file.getvalue()


@contextmanager
def canvas(
    path: Path,
    width: float,
    height: float,
    *,
    dark: bool = False,
    private: bool = False,
    layout: Any = None,
) -> Iterator[tuple[Figure, Theme]]:
    """A figure to draw on, in inches, and its theme; it is written when the drawing is over.

    The ending of `path` says the format; ConfigError for one that is none of FORMATS.
    """
    kind, theme = picture_kind(path), DARK if dark else LIGHT
    with letters(theme):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), facecolor=theme.ground, layout=layout)
        yield figure, theme
        body = saved(figure, kind, facecolor=theme.ground, dpi=160)
    write_file(path, body, private=private)
