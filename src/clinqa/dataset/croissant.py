"""`croissant.json`: the dataset described for machines (MLCommons Croissant 1.0, JSON-LD).

Written by hand, so that building a dataset needs no further library; the tests let mlcroissant
validate it and read records through it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from clinqa.core.manifest import FileRecord

__all__ = ["COLUMN_MEANING", "CroissantFacts", "render_croissant"]

COLUMN_MEANING: Mapping[str, str] = {
    "id": "Identity of the item: hash of kind, source, part, page, question and answer",
    "kind": "long_form, true_false or multiple_choice",
    "group": "Unit that is never divided between splits: the patient, or the study if no patient "
    "is known",
    "question": "The question",
    "context": "The text the answer is to be found in; may be empty",
    "answer": "The right answer",
    "category": "Abnormality, topic or specialty the question is about",
    "source_id": "Id of the study or document the item was made from",
    "spans": "Where the answer stands in the source: part, page, start, end (code points), text",
    "method": "What decided the answer: lexicon, grammar, …",
    "structure": "Anatomical structure the answer is about",
    "level": "Level of the abnormality (see README.md)",
    "question_type": "finding, adequacy, presence, severity or unmentioned",
    "label": "Whether the statement is true; the same as answer",
    "pair_id": "Shared by the two statements of a pair: one edit apart, opposite labels",
    "mode": "What the page was read with: text, both or vision",
    "source_text": "Text of the page that decides the label; the same for both of a pair",
    "md5": "The document: MD5 of its bytes",
    "page": "Page of the document, from 1",
    "text": "The page's text, which spans refer to",
    "statement_seen": "Whether the statement that decides this item also decides an item of train",
    "study_id": "Id of the study as given",
    "abnormality": "Abnormality that is labelled",
    "explicit": "Whether the report says so itself (true) or it was inferred (false)",
    "hedged": "Whether the report hedges (possible, cannot exclude)",
    "phase": "baseline, or a phase after an intervention",
    "section": "Section of the report the finding stands in",
    "prosthesis": "Whether the finding is about a prosthesis",
}

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


@dataclass(frozen=True, slots=True)
class CroissantFacts:
    """What the description says beside files and columns."""

    name: str
    description: str
    licence: str
    cite_as: str
    version: str
    published: str
    """Day of the build, ISO."""
    keywords: Sequence[str] = ()


def render_croissant(
    facts: CroissantFacts,
    files: Sequence[FileRecord],
    tables: Mapping[str, tuple[str, pa.Schema]],
) -> str:
    """The text of `croissant.json`.

    `tables` gives each record set's name, the glob of its files and its columns.
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
    body = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.name,
        "description": facts.description,
        "license": facts.licence,
        "citeAs": facts.cite_as,
        "version": facts.version,
        "datePublished": facts.published,
        "keywords": list(facts.keywords),
        "isLiveDataset": False,
        "distribution": distribution,
        "recordSet": [_record_set(name, schema) for name, (_, schema) in tables.items()],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


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


def _record_set(name: str, schema: pa.Schema) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [_field(name, field) for field in schema],
    }


def _field(record_set: str, field: pa.Field) -> dict[str, Any]:
    identity = f"{record_set}/{field.name}"
    described = {
        "@type": "cr:Field",
        "@id": identity,
        "name": field.name,
        "description": COLUMN_MEANING.get(field.name, field.name),
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
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    if pa.types.is_floating(kind):
        return "sc:Float"
    return "sc:Text"
