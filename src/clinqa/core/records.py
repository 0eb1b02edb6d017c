"""The small records that pass between stages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

__all__ = ["SPLITS", "DataClass", "Level", "Method", "Phase", "Reason", "Reject"]

SPLITS = ("train", "validation", "test")
"""The parts of a dataset, in their order."""


class Level(IntEnum):
    """The level of one abnormality in one study (EchoQA 3.1).

    CONFLICT is for statements that cannot stand together; INADEQUATE for a study that does not
    show enough; UNSPECIFIED for abnormal with no degree; LOW for hyperdynamic or small.
    """

    CONFLICT = -50
    INADEQUATE = -3
    UNSPECIFIED = -2
    LOW = -1
    NORMAL = 0
    MILD = 1
    MODERATE = 2
    SEVERE = 3


class Method(StrEnum):
    """What decided a label."""

    LEXICON = "lexicon"
    GRAMMAR = "grammar"
    RULES = "rules"
    LLM = "llm"
    CLASSIFIER = "classifier"
    METADATA = "metadata"


class Phase(StrEnum):
    """When, within a study, a finding was made; only `baseline` enters the study's label."""

    BASELINE = "baseline"
    POST = "post"
    STRESS = "stress"


class DataClass(StrEnum):
    """How far a text may travel; everything derived from it inherits the class."""

    PUBLIC = "public"
    LICENSED = "licensed"
    RESTRICTED = "restricted"
    PHI = "phi"


class Reason(StrEnum):
    """Why something that was read did not become an item."""

    NO_FINDINGS = "no_findings"
    EMPTY_TEXT = "empty_text"
    TEXT_TOO_LONG = "text_too_long"
    NO_STUDY_ID = "no_study_id"
    CONFLICTING_STUDY_ID = "conflicting_study_id"
    BROKEN_ROW = "broken_row"
    BROKEN_FILE = "broken_file"
    CONFLICTING_LEVELS = "conflicting_levels"
    NO_LABEL = "no_label"
    # PDF files and pages (the outcome of a file says more)
    EMPTY_FILE = "empty_file"
    NOT_PDF = "not_pdf"
    ENCRYPTED_FILE = "encrypted_file"
    UNREADABLE_FILE = "unreadable_file"
    TOO_COSTLY = "too_costly"
    BROKEN_PAGE = "broken_page"
    # of statements from reference documents
    MALFORMED_REPLY = "malformed_reply"
    MODEL_FAILED = "model_failed"
    BAD_LABEL = "bad_label"
    QUOTE_TOO_SHORT = "quote_too_short"
    QUOTE_NOT_FOUND = "quote_not_found"
    QUOTE_SPANS_PAGES = "quote_spans_pages"
    QUOTE_CUTS_NEGATION = "quote_cuts_negation"
    IMAGE_REFERENCE = "image_reference"
    NOT_WELL_FORMED = "not_well_formed"
    NEEDS_CONTEXT = "needs_context"
    OFF_TOPIC = "off_topic"
    NOT_IN_SOURCE = "not_in_source"
    NO_COUNTERPART = "no_counterpart"
    NOT_CONTRADICTING = "not_contradicting"
    JUDGED_WRONG = "judged_wrong"
    NEAR_DUPLICATE = "near_duplicate"
    NEGATION_CAP = "negation_cap"
    # of questions from banks
    NO_QUESTION = "no_question"
    TOO_FEW_OPTIONS = "too_few_options"
    NO_ANSWER = "no_answer"
    CONFLICTING_ANSWER = "conflicting_answer"
    CONFLICTING_ITEM_ID = "conflicting_item_id"
    NO_MAJORITY = "no_majority"
    OTHERS = "others"
    SPECIALTY_TOO_SMALL = "specialty_too_small"
    NO_METADATA = "no_metadata"
    IN_ANOTHER_SPLIT = "in_another_split"
    OPTIONS_REFER = "options_refer_to_each_other"
    # of terms in a text that a model scores
    NOT_ALIGNED = "not_aligned"
    NOTHING_BEFORE = "nothing_before"
    OVER_WINDOW = "over_window"


@dataclass(frozen=True, slots=True)
class Reject:
    """Something read that could not be used. `detail` holds no text of the record."""

    stage: str
    reason: Reason
    source_id: str
    part: str = ""
    page: int | None = None
    row: int | None = None
    detail: str = ""
