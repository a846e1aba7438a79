"""Files of responses with gold answers."""

from pathlib import Path

import pytest

from eval_assets.errors import InputError, leaves
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labelling_inputs import read_assignments, with_calibration

DECLARED = """\
name: e
rubric:
  - {id: clarity, question: Is it clear?, scale: likert5}
  - {id: correct, question: Is it correct?, scale: binary}
labelling: {raters: [anna], show: [topic], calibration: gold.csv}
"""


def study(folder: Path, gold: str, *responses: str, declared: str = DECLARED) -> Study:
    (folder / "evaluation.yaml").write_text(declared)
    (folder / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name,topic\na,p,r,m,law\n"
    )
    (folder / "gold.csv").write_text(gold)
    views = {name: ResponseView(name, "p", "r") for name in responses}
    return with_calibration(Study(read_evaluation(folder), views))


def test_each_column_of_a_question_asks_it_with_its_gold_answers(tmp_path: Path) -> None:
    first, second = study(
        tmp_path,
        "response_id,prompt_text,response_text,clarity,correct,round,topic\n"
        "g1,Ask,One,4|5,yes,1,tax\ng2,Ask,Two,,0,2,law\n",
    ).calibration

    assert first.answers == {"clarity": {4, 5}, "correct": {1}}
    assert (first.response.response, first.response.facts) == ("One", (("topic", ("tax",)),))
    assert second.answers == {"correct": {0}}
    assert second.round == 2
    assert [question.id for question in second.response.questions] == ["correct"]


def test_columns_that_raters_see_are_required(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as error:
        study(tmp_path, "response_id,prompt_text,response_text,clarity\ng1,Ask,One,4\n")

    [problem] = leaves(error.value)
    assert str(problem) == (
        "gold.csv:1:topic: there is no such column, and raters see it of other responses. "
        "Add it to the header."
    )


def test_ids_of_responses_are_not_used_again(tmp_path: Path) -> None:
    header = "response_id,prompt_text,response_text,topic,clarity\n"
    with pytest.raises(ExceptionGroup) as error:
        study(tmp_path, f"{header}g1,Ask,One,law,4\ng2,Ask,Two,law,1\n", "a", "g2")

    assert [str(one) for one in leaves(error.value)] == [
        'gold.csv:3:response_id: "g2" is also in the responses. Use another id.',
    ]


def test_unknown_columns_and_files_without_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as error:
        study(tmp_path, "response_id,prompt_text,response_text,topic,clarity,rond\n")

    assert [str(one) for one in leaves(error.value)] == [
        'gold.csv:1:rond: a calibration has no such column. Write "round", or remove it.',
        "gold.csv: there are no responses. Add rows, or remove the file's key.",
    ]


def test_options_without_a_gold_answer_are_named(tmp_path: Path) -> None:
    faults = "  - {id: faults, question: Which?, options: [wrong, rude, vague]}\nlabelling"
    with pytest.raises(ExceptionGroup) as error:
        study(
            tmp_path,
            "response_id,prompt_text,response_text,topic,clarity,faults/wrong,faults/rude\n"
            "g1,Ask,One,law,,1,\ng2,Ask,Two,law,5,,\n",
            declared=DECLARED.replace("labelling", faults),
        )

    [problem] = leaves(error.value)
    assert str(problem) == (
        "gold.csv:2:faults: there is no right answer for faults/rude, faults/vague. "
        "Fill in all options, or none."
    )


def test_every_bad_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as error:
        study(
            tmp_path,
            "response_id,prompt_text,response_text,clarity,round,topic\n"
            "g1,Ask,One,9,1,law\ng1,Ask,Two,good,zero,law\n,Ask,Three,,1,law\n",
        )

    assert {str(one).partition(". ")[0] for one in leaves(error.value)} == {
        "gold.csv:2:clarity: 9 is not on the scale",
        "gold.csv:3:clarity: 'good' is not a number",
        'gold.csv:3:round: "zero" is not a round',
        'gold.csv:3:response_id: "g1" is repeated, first in line 2',
        "gold.csv:4:response_id: a response without an id",
        "gold.csv:4: the row has no right answer",
    }


def test_problems_of_assignments_name_headers_of_the_file(tmp_path: Path) -> None:
    gold = "response_id,prompt_text,response_text,topic,clarity\ng1,Ask,One,law,4\n"
    evaluation = study(tmp_path, gold).evaluation
    (tmp_path / "assignments.csv").write_text(
        "Response ID,Rater ID,Question ID,Round,Purpose\n,anna,clarity,1,shared\n"
        "r1,,clarity,1,shared\nr1,anna,clarty,1,shared\nr1,anna,clarity,x,shared\nr1,anna,,1,fun\n"
    )

    with pytest.raises(ExceptionGroup) as error:
        read_assignments(evaluation)

    headers = [str(problem).split(":")[2] for problem in leaves(error.value)]
    assert headers == ["Response ID", "Rater ID", "Question ID", "Round", "Purpose"]


def test_file_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as error:
        study(tmp_path, "response_id,prompt_text,response_text\ng1,Ask,One\n")

    [problem] = leaves(error.value)
    assert "no column names a question of the rubric" in str(problem)
    assert isinstance(problem, InputError)


def test_calibration_needs_named_raters(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("response_id\n")
    (tmp_path / "evaluation.yaml").write_text(DECLARED.replace("raters: [anna], ", ""))
    with pytest.raises(ExceptionGroup) as error:
        read_evaluation(tmp_path)

    assert any("labelling.calibration: no rater is named" in str(e) for e in leaves(error.value))
