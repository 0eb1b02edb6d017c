"""The small records that pass between stages, and the order of data classes: what is made of
several things has the strictest of theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from clinqa.core.errors import PrivacyError

__all__ = [
    "SPLITS",
    "DataClass",
    "Level",
    "Method",
    "Phase",
    "Reason",
    "Reject",
    "inherit",
    "is_private",
    "strictest",
]

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
    NO_VERDICT = "no_verdict"
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
    # of people's verdicts on answers
    ODD_VERDICT = "odd_verdict"
    NO_SUCH_RUN = "no_such_run"
    NO_ITEM = "no_item"
    ODD_WEIGHT = "odd_weight"


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


_ORDER = (DataClass.PUBLIC, DataClass.LICENSED, DataClass.RESTRICTED, DataClass.PHI)


def inherit(classes: Iterable[DataClass]) -> DataClass:
    """The class of something made from several: the strictest of theirs.

    >>> inherit([DataClass.PUBLIC, DataClass.PHI, DataClass.LICENSED])
    <DataClass.PHI: 'phi'>
    """
    found = list(classes)
    if not found:
        raise ValueError("a derived thing has at least one source")
    return max(found, key=_ORDER.index)


def strictest(
    classes: Iterable[DataClass | str],
    wanted: DataClass | None = None,
    *,
    read: str = "the dataset is",
    of: str = "it",
    instead: str = "",
) -> DataClass:
    """The class of what is made from things of these classes; `wanted` may raise it, never lower.

    `read` says what those things are, `of` what they are called and `instead` what can be done,
    for the PrivacyError that a lower one is refused with.

    >>> strictest(["public", "licensed"], DataClass.PHI)
    <DataClass.PHI: 'phi'>
    """
    own = inherit(map(DataClass, classes))
    if wanted is not None and inherit([own, wanted]) is not wanted:
        raise PrivacyError(
            f"--data-class {wanted.value}: {read} {own.value}, and what is made from {of} cannot "
            f"be less{instead}"
        )
    return wanted or own


def is_private(data_class: DataClass | str) -> bool:
    """May only its owner read files of this class (mode 0600)? An unknown class is private."""
    return data_class not in (DataClass.PUBLIC, DataClass.LICENSED)
