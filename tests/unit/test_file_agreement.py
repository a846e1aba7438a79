"""`from eval_assets import agreement`: what a notebook gets of a data frame."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from eval_assets import agreement
from eval_assets.errors import InputError

CODE = Path(__file__).parents[2] / "data" / "code" / "labels.csv"
WIDE = pd.DataFrame(
    {"Anna": [1 + k % 5 for k in range(20)], "Ben": [1 + (k + k // 10) % 5 for k in range(20)]},
    index=pd.Index([f"r{k}" for k in range(20)], name="response"),
)
LONG = WIDE.reset_index().melt("response", var_name="rater", value_name="rating")


def test_a_long_and_a_wide_frame_give_the_figures_of_the_file(tmp_path: Path) -> None:
    LONG.to_csv(tmp_path / "ratings.csv", index=False)

    results = [agreement(data, scale="1-5") for data in (WIDE, LONG, tmp_path / "ratings.csv")]

    assert {(r.a_hh, r.alpha, tuple(r.verdicts.items())) for r in results} == {
        (results[0].a_hh, results[0].alpha, tuple(results[0].verdicts.items()))
    }
    assert results[0].a_hh == pytest.approx(0.8)


def test_a_published_study_gives_the_figures_of_its_file(tmp_path: Path) -> None:
    alone = shutil.copy(CODE, tmp_path)  # away from the evaluation.yaml that groups its responses
    file, frame = agreement(alone, scale="0-4"), agreement(pd.read_csv(CODE), scale="0-4")

    assert [row.columns() for row in frame.figures] == [row.columns() for row in file.figures]


def test_missing_ratings_and_a_scale_that_was_guessed_are_as_in_a_file() -> None:
    frame = WIDE.astype("Int64")
    frame.loc["r3", "Ben"] = pd.NA

    result = agreement(frame)

    assert result.figures[0].n_ratings == 39
    assert result.notes[-1].startswith("scale guessed from the ratings: 1, 2, 3, 4, 5 (rating)")


def test_a_pivoted_frame_has_raters_and_questions_in_its_headers() -> None:
    frame = pd.concat({"tone": WIDE, "truth": WIDE}, axis=1)

    result = agreement(frame, scale="1-5", rater=["Anna", "Ben"])

    assert [row.question_id for row in result.figures] == [None, "tone", "truth"]


@pytest.mark.parametrize(
    "columns",
    [
        {"prompt": lambda n: f"Ask {n // 2}"},
        {"prompt_id": lambda n: f"p{n // 2}"},
        {"Group ID": lambda n: n // 2},
    ],
)
def test_responses_to_one_prompt_are_a_group_as_in_a_run(
    columns: dict[str, Callable[[int], object]],
) -> None:
    frame = WIDE.reset_index(drop=True)
    frame.insert(0, "response_id", [f"r{n}" for n in range(20)])
    for name, cell in columns.items():
        frame[name] = pd.Series([cell(n) for n in range(20)], dtype=object)

    result = agreement(frame, scale="1-5", rater=["Anna", "Ben"])

    assert [row.n_groups for row in result.figures] == [10, 10]
    assert result.figures[0].n_responses == 20


def test_models_under_one_prompt_id_are_a_group() -> None:
    frame = LONG.assign(model=LONG["response"].map(lambda name: f"m{int(name[1:]) % 2}"))
    frame["prompt_id"] = frame["response"].map(lambda name: f"p{int(name[1:]) // 2}")

    result = agreement(frame.drop(columns="response"), scale="1-5")

    assert (result.figures[0].n_responses, result.figures[0].n_groups) == (20, 10)


def test_columns_of_one_name_are_numbered_as_in_a_file() -> None:
    frame = pd.DataFrame([[f"r{n}", *[1 + n % 5] * 3] for n in range(20)])

    result = agreement(frame.set_axis(["item", *["Rating"] * 3], axis=1))

    assert result.raters == ("Rating [1]", "Rating [2]", "Rating [3]")
    with pytest.raises(InputError, match="data frame:Rating: two columns have this name"):
        agreement(frame.set_axis(["item", "Rating", "Rating", "Ben"], axis=1))


def test_the_frame_of_a_result_has_a_row_for_all_questions_and_for_each() -> None:
    result = agreement(WIDE, scale="1-5")
    frame = result.to_frame()

    assert frame["scope"].tolist() == ["overall", "question"]
    assert frame["a_hh"].tolist() == [row.a_hh.value for row in result.figures]
    assert (frame["a_hh_low"] < frame["a_hh"]).all()


def test_a_notebook_shows_tables_and_a_plot_with_every_text_escaped() -> None:
    frame = WIDE.rename(columns={"Anna": "<b>Anna</b>"})
    result = agreement(frame, scale="1-5", rater=[str(name) for name in frame])
    html = result._repr_html_()

    assert html.count("<table>") == 2
    assert "human_alpha" in html
    assert html.count("<svg xmlns") == 1
    assert "<b>" not in html
    assert result.plot().svg in html
    assert "0.800" in repr(result)


def test_a_frame_without_ratings_is_refused_with_its_column() -> None:
    with pytest.raises((InputError, ExceptionGroup)) as refusal:
        agreement(pd.DataFrame({"response": ["r1", "r2"], "text": ["a", "b"]}))

    [error] = getattr(refusal.value, "exceptions", [refusal.value])
    assert "data frame" in str(error)


def test_headers_with_two_readings_ask_for_the_raters() -> None:
    rows = [(k, 1 + k % 5, 1 + k % 5, 5 - k % 5, 5 - k % 5) for k in range(20)]
    names = ["id", "red_anna", "red_ben", "blue_anna", "blue_ben"]

    with pytest.raises(InputError, match=r'Pass rater=\["(anna|red)", "(ben|blue)"\]'):
        agreement(pd.DataFrame(rows, columns=names))


def test_the_package_is_imported_without_any_library() -> None:
    program = (
        "import sys; from eval_assets import agreement; import eval_assets.agreement.gates; "
        "from eval_assets import agreement as again; assert callable(agreement) and again is "
        "agreement; print(sorted({'numpy', 'pandas', 'duckdb', 'dagster'} & set(sys.modules)))"
    )

    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert output.stdout.decode().strip() == "[]"


def test_a_measurement_imports_no_orchestrator() -> None:
    program = (
        "import sys, pandas as pd; from eval_assets import agreement; "
        "agreement(pd.DataFrame({'Anna': [1, 2, 3], 'Ben': [1, 2, 4]}), scale='1-5'); "
        "print({'dagster', 'openai', 'anthropic', 'matplotlib'} & set(sys.modules))"
    )

    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert output.stdout.decode().strip() == "set()"


@pytest.mark.parametrize(
    "ratings",
    [
        WIDE.to_numpy(),
        WIDE.to_numpy().tolist(),
        LONG.to_dict("records"),
        LONG.set_index(["response", "rater"])["rating"],
    ],
    ids=["array", "lists", "records", "series"],
)
def test_arrays_lists_and_series_are_frames(ratings: object) -> None:
    assert agreement(ratings, scale=(1, 5)).a_hh == agreement(WIDE, scale="1-5").a_hh  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [("nul", "een", "twee", "drie", "vier"), (1, 2, 3, 4, 5)])
def test_order_of_a_categorical_column_is_the_scale(words: tuple[object, ...]) -> None:
    """Words in an order that only the frame knows, and values that nobody gave."""
    names = dict(zip(range(1, 6), words, strict=True))
    frame = LONG.assign(rating=LONG["rating"].clip(2, 4).map(names))
    frame["rating"] = pd.Categorical(frame["rating"], categories=words, ordered=True)

    result = agreement(frame)

    clipped = LONG.assign(rating=LONG["rating"].clip(2, 4))
    assert result.a_hh == agreement(clipped, scale="1-5").a_hh
    assert not any("guessed" in note for note in result.notes)


def test_scale_of_another_kind_is_a_type_error() -> None:
    with pytest.raises(
        TypeError, match='scale must be a Scale, its ends or its text such as "1-5"'
    ):
        agreement(WIDE, scale=5)  # type: ignore[arg-type]


def test_ratings_by_models_alone_are_refused() -> None:
    frame = WIDE.rename(columns={"Anna": "gpt-4o", "Ben": "claude-haiku-5-5"})

    with pytest.raises(InputError, match="no person rated: gpt-4o and claude-haiku-5-5"):
        agreement(frame)
