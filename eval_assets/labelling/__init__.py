"""How people label: who labels what, what they see, and sessions that lose nothing."""

from eval_assets.labelling.adjudicating import AdjudicationDesk, Case
from eval_assets.labelling.adjudication import (
    ADJUDICATIONS,
    Adjudication,
    Disagreement,
    decisions,
    disagreements,
    own_rating,
    read_adjudications,
    worst_first,
)
from eval_assets.labelling.assignments import ASSIGNMENTS, Assignment, Purpose, add_assignments
from eval_assets.labelling.choices import Choice, choices_of, parse_typed, value_name
from eval_assets.labelling.circumstances import (
    control_values,
    history_rows,
    n_assigned,
    with_circumstances,
)
from eval_assets.labelling.desk import Answer, Desk, now
from eval_assets.labelling.dimensions import dimension_of
from eval_assets.labelling.pages import PAGE_ACTION, page_answers, page_task
from eval_assets.labelling.planning import GatePlan, plan_gates
from eval_assets.labelling.quality import MEASURES, QualityFigure, measure_quality
from eval_assets.labelling.returned import merge_returned, offline_task, returned_sessions
from eval_assets.labelling.sampling import AssignmentPlan, assign, strata_of
from eval_assets.labelling.session_files import SessionFolder, as_text, session_json
from eval_assets.labelling.sessions import UNDO, Confidence, Label, Session, file_name
from eval_assets.labelling.sheets import neutralised, sheet_text, write_sheet
from eval_assets.labelling.shown import ShownResponse, shown_responses
from eval_assets.labelling.study import Study
from eval_assets.labelling.work import WorkUnit

__all__ = [
    "ADJUDICATIONS",
    "ASSIGNMENTS",
    "MEASURES",
    "PAGE_ACTION",
    "UNDO",
    "Adjudication",
    "AdjudicationDesk",
    "Answer",
    "Assignment",
    "AssignmentPlan",
    "Case",
    "Choice",
    "Confidence",
    "Desk",
    "Disagreement",
    "GatePlan",
    "Label",
    "Purpose",
    "QualityFigure",
    "Session",
    "SessionFolder",
    "ShownResponse",
    "Study",
    "WorkUnit",
    "add_assignments",
    "as_text",
    "assign",
    "choices_of",
    "control_values",
    "decisions",
    "dimension_of",
    "disagreements",
    "file_name",
    "history_rows",
    "measure_quality",
    "merge_returned",
    "n_assigned",
    "neutralised",
    "now",
    "offline_task",
    "own_rating",
    "page_answers",
    "page_task",
    "parse_typed",
    "plan_gates",
    "read_adjudications",
    "returned_sessions",
    "session_json",
    "sheet_text",
    "shown_responses",
    "strata_of",
    "value_name",
    "with_circumstances",
    "worst_first",
    "write_sheet",
]
