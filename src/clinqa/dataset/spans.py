"""Whether spans are what stands in the source, up to whitespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.manifest import Manifest
from clinqa.sources.reports import ReadOptions, read_reports

__all__ = ["SourceTexts", "texts_of"]


class SourceTexts:
    """The source's texts by study and part; memory holds them all, as plain strings."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], str] = {}

    def add(self, table: pa.Table) -> None:
        """Enter the texts of a table of study_id, part and text."""
        names = zip(table["study_id"].to_pylist(), table["part"].to_pylist(), strict=True)
        self._texts.update(zip(names, table["text"].to_pylist(), strict=True))

    def wrong_rows(self, studies: pa.ChunkedArray, spans: pa.ChunkedArray) -> Iterator[int]:
        """The rows in which some span is not its study's text at that place."""
        flat = pc.list_flatten(spans)
        rows = pc.list_parent_indices(spans).to_pylist()
        names = studies.to_pylist()
        fields = [pc.struct_field(flat, name).to_pylist() for name in ("part", "start", "end")]
        said = pc.struct_field(flat, "text").to_pylist()
        last = -1
        for row, part, start, end, text in zip(rows, *fields, said, strict=True):
            if row != last and not self._stands(names[row], part, start, end, text):
                last = row
                yield row

    def _stands(
        self, study: str, part: str | None, start: int | None, end: int | None, text: str | None
    ) -> bool:
        source = self._texts.get((study, part or ""))
        if source is None:
            # the second report of note N is study N#2, and its spans are the note's
            note, mark, number = study.rpartition("#")
            source = self._texts.get((note, part or "")) if mark and number.isdigit() else None
        if source is None or start is None or end is None or text is None:
            return False
        if not 0 <= start < end <= len(source):
            return False
        found = source[start:end]
        return found == text or found.split() == text.split()


def texts_of(sources: Iterable[Path | pa.Table], manifest: Manifest) -> SourceTexts:
    """The texts of inputs, read with the columns the build was told, and of tables as given."""
    texts = SourceTexts()
    paths = []
    for source in sources:
        if isinstance(source, Path):
            paths.append(source)
        else:
            texts.add(source)
    if paths:
        for batch in read_reports(paths, _options(manifest)):
            texts.add(batch.studies)
    return texts


def _options(manifest: Manifest) -> ReadOptions:
    said: Mapping[str, object] = manifest.configuration
    columns = {
        name: str(said[name])
        for name in ("text_col", "subject_col", "study_col")
        if said.get(name) is not None
    }
    return ReadOptions(**columns)  # type: ignore[arg-type]
