from eval_assets.labelling.adjudication import Adjudication
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.session_frames import ControlUnit, control_values
from tests.unit.labelling.conftest import START


def test_control_values_are_those_settled_of_what_a_rater_labels_as_a_control() -> None:
    def settled(value: float | None) -> Adjudication:
        return Adjudication(
            response_id="a",
            question_id="clarity",
            step="excluded" if value is None else "consensus",
            by="lea",
            at=START,
            value=value,
            reason="why",
        )

    inputs = [
        Assignment("a", "anna", purpose="control"),
        Assignment("a", "ben", "correct", purpose="control"),
        Assignment("a", "cleo"),
    ]

    assert control_values(inputs, {("a", "clarity"): settled(4)}) == {
        ControlUnit("a", "clarity", "anna"): 4
    }
    assert control_values(inputs, {("a", "clarity"): settled(None)}) == {}
