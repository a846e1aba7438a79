"""Given files to records: every bad place is reported with file, line and remedy, all at once."""

from eval_assets.readers.assignments import read_assignments
from eval_assets.readers.documents import (
    Document,
    DocumentQuery,
    document_query,
    read_document_query,
)
from eval_assets.readers.drafting import write_files
from eval_assets.readers.evaluation import (
    FILE,
    evaluation_problem,
    evaluations_in,
    read_evaluation,
)
from eval_assets.readers.evaluation.given_files import source_fingerprints
from eval_assets.readers.folder_draft import complete_folder
from eval_assets.readers.formats.files import is_working_file
from eval_assets.readers.formats.table import Table
from eval_assets.readers.importers import SOURCES, import_files
from eval_assets.readers.importers.draft import write_draft
from eval_assets.readers.importers.imported import Imported
from eval_assets.readers.judge_results import JudgedItems, read_judged_items
from eval_assets.readers.labels import Labels, read_labels
from eval_assets.readers.prompts import read_prompts
from eval_assets.readers.ratings_file import read_ratings_file
from eval_assets.readers.references import id_of
from eval_assets.readers.responses import read_responses
from eval_assets.readers.scores import (
    OF_CONVERSATION,
    UNPARSED,
    UNPARSED_OF_CONVERSATION,
    read_recorded_scores,
)

__all__ = [
    "FILE",
    "OF_CONVERSATION",
    "SOURCES",
    "UNPARSED",
    "UNPARSED_OF_CONVERSATION",
    "Document",
    "DocumentQuery",
    "Imported",
    "JudgedItems",
    "Labels",
    "Table",
    "complete_folder",
    "document_query",
    "evaluation_problem",
    "evaluations_in",
    "id_of",
    "import_files",
    "is_working_file",
    "read_assignments",
    "read_document_query",
    "read_evaluation",
    "read_judged_items",
    "read_labels",
    "read_prompts",
    "read_ratings_file",
    "read_recorded_scores",
    "read_responses",
    "source_fingerprints",
    "write_draft",
    "write_files",
]
