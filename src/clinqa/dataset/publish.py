"""The last step of a build: the card, and `croissant.json`, beside the data.

The latter describes the dataset for machines (MLCommons Croissant 1.0, JSON-LD). It is written by
hand, so that building a dataset needs no further library; the tests let mlcroissant validate it
and read records through it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.origin import made_up, with_origin
from clinqa.core.records import SPLITS
from clinqa.core.stage import Workplace
from clinqa.dataset.card import Card, render_card
from clinqa.kinds.facets.columns import Columns

__all__ = ["COLUMN_MEANING", "render_croissant", "write_card"]

COLUMN_MEANING: Mapping[str, str] = {
    "id": "Identity of the item: hash of kind, source, part, page, question and answer",
    "kind": "What kind of item it is, which says how it is asked and judged",
    "group": "Unit that is never divided between splits: the patient, or the study if no patient "
    "is known",
    "question": "The question",
    "context": "The text the answer is to be found in; may be empty",
    "answer": "The right answer",
    "category": "Abnormality, topic or specialty the question is about",
    "source_id": "Id of the study or document the item was made from",
    "spans": "Where the answer stands in the source: part, page, start, end (code points), text",
    "method": "What decided the answer: lexicon, grammar, …",
}
"""What the columns mean that items of every kind have."""

_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


_TYPES = (
    (pa.types.is_boolean, "sc:Boolean"),
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
)


def render_croissant(
    card: Card,
    manifest: Manifest,
    files: Sequence[FileRecord],
    tables: Mapping[str, tuple[str, pa.Schema]],
    meanings: Mapping[str, str],
) -> str:
    """The text of `croissant.json`.

    `tables` gives each record set's name, the glob of its files and its columns; `meanings` what
    columns mean that not every kind has.
    """
    distribution = [_file_object(file) for file in files]
    distribution += [
        {
            "@type": "cr:FileSet",
            "@id": f"{name}-files",
            "name": f"{name}-files",
            "encodingFormat": "application/x-parquet",
            "includes": glob,
        }
        for name, (glob, _) in tables.items()
    ]
    told = {**COLUMN_MEANING, **meanings}
    body = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.title,
        "description": _described(card, manifest),
        "license": "as of the source",
        "citeAs": f"Cite {card.owner}. Made with clinqa {manifest.clinqa}, fingerprint "
        f"{manifest.fingerprint}.",
        "version": "1.0.0",
        "datePublished": manifest.finished[:10],
        "keywords": [*(card.keywords or card.tags), *with_origin(manifest.origin).values()],
        "isLiveDataset": False,
        "distribution": distribution,
        "recordSet": [_record_set(name, schema, told) for name, (_, schema) in tables.items()],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _described(card: Card, manifest: Manifest) -> str:
    made = made_up(manifest.origin)
    return (f"{made}. " if made else "") + (card.description or card.summary)


def _file_object(file: FileRecord) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file.sha256,
    }


def _record_set(name: str, schema: pa.Schema, told: Mapping[str, str]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [_field(name, field, told) for field in schema],
    }


def _field(record_set: str, field: pa.Field, told: Mapping[str, str]) -> dict[str, Any]:
    identity = f"{record_set}/{field.name}"
    described = {
        "@type": "cr:Field",
        "@id": identity,
        "name": field.name,
        "description": told.get(field.name, field.name),
    }
    if pa.types.is_list(field.type):
        described["repeated"] = True
        if pa.types.is_struct(field.type.value_type):
            parts = [
                field.type.value_type.field(i) for i in range(field.type.value_type.num_fields)
            ]
            described["subField"] = [
                {
                    "@type": "cr:Field",
                    "@id": f"{identity}/{part.name}",
                    "name": part.name,
                    "dataType": _data_type(part.type),
                    "source": _source(record_set, field.name, part.name),
                }
                for part in parts
            ]
            return described
    described["dataType"] = _data_type(field.type)
    described["source"] = _source(record_set, field.name)
    return described


def _source(record_set: str, column: str, part: str | None = None) -> dict[str, Any]:
    source: dict[str, Any] = {
        "fileSet": {"@id": f"{record_set}-files"},
        "extract": {"column": column},
    }
    if part is not None:
        source["transform"] = {"jsonPath": part}
    return source


def _data_type(kind: pa.DataType) -> str:
    return next((name for fits, name in _TYPES if fits(kind)), "sc:Text")


def write_card(
    place: Workplace,
    card: Card,
    columns: Columns,
    manifest: Manifest,
    rows: Mapping[str, int],
    tables: Mapping[str, pa.Schema] | None = None,
) -> None:
    """Write `README.md` and `croissant.json` of what lies in `place`.

    `rows` are those of each file, `tables` the Parquet files described beside the items: those of
    the kind unless others are named. The manifest is told as it will be, but for its outputs.
    """
    described = {name: (f"data/{name}-*.parquet", columns.items) for name in SPLITS}
    for name, schema in (columns.tables if tables is None else tables).items():
        described[name.removesuffix(".parquet")] = (name, schema)
    files = [
        FileRecord.of(place.partial / name, name, n)
        for name, n in sorted(rows.items())
        if name.endswith(".parquet")
    ]
    croissant = render_croissant(card, manifest, files, described, columns.meanings)
    place.write("README.md", render_card(card, manifest))
    place.write("croissant.json", croissant)
