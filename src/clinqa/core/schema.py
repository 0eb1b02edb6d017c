"""The Arrow schemas of every file in a dataset folder; the one place where columns are named."""

from __future__ import annotations

import pyarrow as pa

__all__ = [
    "LABELS",
    "LONG_FORM",
    "MULTIPLE_CHOICE",
    "PREDICTIONS",
    "REJECTS",
    "SPAN",
    "STATEMENTS",
    "TRUE_FALSE",
    "VOTE",
]

SPAN = pa.struct(
    [
        ("part", pa.string()),
        ("page", pa.int32()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("text", pa.string()),
    ]
)

_ITEM = [
    ("id", pa.string()),
    ("kind", pa.string()),
    ("group", pa.string()),
    ("question", pa.string()),
    ("context", pa.string()),
    ("answer", pa.string()),
    ("category", pa.string()),
    ("source_id", pa.string()),
    ("spans", pa.list_(SPAN)),
    ("method", pa.string()),
]

LONG_FORM = pa.schema(
    [
        *_ITEM,
        ("structure", pa.string()),
        ("level", pa.int8()),
        ("question_type", pa.string()),
        # does the deciding statement of this item also decide an item of the train split?
        ("statement_seen", pa.bool_()),
    ]
)

VOTE = pa.struct([("voter", pa.string()), ("label", pa.string()), ("raw", pa.string())])

TRUE_FALSE = pa.schema(
    [
        *_ITEM,
        ("label", pa.bool_()),
        # the two statements that differ in one edit and have opposite labels
        ("pair_id", pa.string()),
        # what its page was read with: text, both, vision
        ("mode", pa.string()),
        # the text of the page that decides the label; the same in both items of a pair
        ("source_text", pa.string()),
    ]
)

MULTIPLE_CHOICE = pa.schema(
    [
        *_ITEM,
        ("options", pa.list_(pa.string())),
        ("answer_index", pa.int32()),
        ("specialties", pa.list_(pa.string())),
        ("votes", pa.list_(VOTE)),
        ("needs_image", pa.bool_()),
        ("garbled", pa.bool_()),
    ]
)

LABELS = pa.schema(
    [
        ("study_id", pa.string()),
        ("group", pa.string()),
        ("abnormality", pa.string()),
        ("level", pa.int8()),
        ("method", pa.string()),
        ("explicit", pa.bool_()),
        ("hedged", pa.bool_()),
        ("phase", pa.string()),
        ("section", pa.string()),
        ("prosthesis", pa.bool_()),
        ("spans", pa.list_(SPAN)),
    ]
)

STATEMENTS = pa.schema(
    [
        ("structure", pa.string()),
        ("text", pa.string()),
        ("count", pa.int64()),
        ("studies", pa.int64()),
        (
            "labels",
            pa.list_(
                pa.struct(
                    [
                        ("abnormality", pa.string()),
                        ("level", pa.int8()),
                        ("explicit", pa.bool_()),
                        ("hedged", pa.bool_()),
                        ("phase", pa.string()),
                    ]
                )
            ),
        ),
        ("method", pa.string()),
    ]
)

# one row a page of every PDF that was opened; `text` is what offsets of the part `page` refer to
PAGES = pa.schema(
    [
        ("md5", pa.string()),
        ("page", pa.int32()),
        ("mode", pa.string()),
        ("reason", pa.string()),
        ("engine", pa.string()),
        ("chars", pa.int32()),
        ("raw_chars", pa.int32()),
        ("width", pa.float32()),
        ("height", pa.float32()),
        ("rotation", pa.int32()),
        ("text", pa.string()),
    ]
)

# one row a file; the only place where a document's name stands
DOCUMENTS = pa.schema(
    [
        ("md5", pa.string()),
        ("name", pa.string()),
        ("outcome", pa.string()),
        ("pages", pa.int32()),
        ("bytes", pa.int64()),
        ("detail", pa.string()),
    ]
)

REJECTS = pa.schema(
    [
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("source_id", pa.string()),
        ("part", pa.string()),
        ("page", pa.int32()),
        ("row", pa.int64()),
        ("detail", pa.string()),
    ]
)

PREDICTIONS = pa.schema(
    [
        ("item_id", pa.string()),
        ("model", pa.string()),
        ("shots", pa.int32()),
        ("repeat", pa.int32()),
        ("variant", pa.int32()),
        ("prompt_sha256", pa.string()),
        ("output", pa.string()),
        ("finish_reason", pa.string()),
        ("answer", pa.string()),
        ("answer_status", pa.string()),
        ("input_tokens", pa.int32()),
        ("output_tokens", pa.int32()),
        ("seconds", pa.float64()),
        ("error", pa.string()),
    ]
)
