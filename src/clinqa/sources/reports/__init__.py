"""Readers of clinical reports: CSV, CSV.GZ, Parquet, JSONL, folders of .txt."""

from __future__ import annotations

from clinqa.sources.reports.reader import ReportReader, describe, read_reports, some
from clinqa.sources.reports.records import (
    MIMIC_III,
    MIMIC_IV,
    STUDIES,
    TABLE,
    FilePlan,
    InputPlan,
    ReadCounts,
    ReadOptions,
    ReportBatch,
)

__all__ = [
    "MIMIC_III",
    "MIMIC_IV",
    "STUDIES",
    "TABLE",
    "FilePlan",
    "InputPlan",
    "ReadCounts",
    "ReadOptions",
    "ReportBatch",
    "ReportReader",
    "describe",
    "read_reports",
    "some",
]
