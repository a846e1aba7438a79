"""Judges of which the truth is known, tuned, tested in the held-out test and certified."""

import csv
import json
import re
import shutil
import sqlite3
from pathlib import Path

import dagster as dg
import jsonschema  # type: ignore[import-untyped]
import pytest
from click.testing import CliRunner, Result

import eval_assets
from eval_assets.assets.certificates import READ_TESTS_TAG
from eval_assets.assets.checks import certificates_valid
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.cli.certificates import certificates as certificates_command
from eval_assets.cli.sheet import sheet as sheet_command
from eval_assets.cli.study_files import read_study
from eval_assets.cli.tune import tune
from eval_assets.config.tuning import SplitShares
from eval_assets.errors import InputError
from eval_assets.store.connection import connect
from eval_assets.tuning.rated import split_of
from tests.e2e.conftest import PLANTED, SAMPLE, WITHOUT_RESULTS, Evaluated, RunOnce
from tests.unit.tuning.made_up import SCHEMA

MADE = ("judge_splits", "score_calibration", "tuned_judges")
"""Tables that no label of the test may change."""

CERTIFYING = sorted(
    key.to_user_string()
    for key in dg.AssetSelection.assets("judge_certificates")
    .upstream()
    .resolve(SAMPLE.resolve_asset_graph())
)
"""The assets that certificates depend on."""

COMPARED = "+judge_human_agreement"

VERDICTS = """SELECT judge_id, kind, verdict FROM tuned_judge_evaluation
              WHERE kind <> 'fitness_in_part' ORDER BY judge_id, kind DESC"""


def certificates(folder: Evaluated) -> dict[str, bytes]:
    """The certificate files, by name."""
    return {
        path.name: path.read_bytes() for path in (folder.path / "out" / "certificates").iterdir()
    }


def relabelled(folder: Evaluated, *, splits: set[str]) -> None:
    """Turn every rating of these splits around, which leaves people in agreement."""
    path = folder.path / "labels.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if split_of(row["response_id"].partition("-")[0], SplitShares()) in splits:
            row["rating"] = str(6 - int(row["rating"]))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_each_judge_gets_the_verdicts_that_were_planted(planted_once: Evaluated) -> None:
    with (PLANTED / "planted.csv").open(newline="") as file:
        expected = {row["judge_id"]: row for row in csv.DictReader(file)}
    actual = planted_once.rows(VERDICTS)

    assert ("harsh", "improvement", "accepted") in actual
    assert ("steady", "fitness", "fit") in actual
    assert ("verbose", "fitness", "unfit") in actual
    assert ("steady", "improvement", "unchanged") in actual
    assert ("verbose", "improvement", "unchanged") in actual
    assert len(actual) == 6
    for judge_id, kind, verdict in actual:
        planted_verdict = expected[str(judge_id)][str(kind)]
        assert planted_verdict in ("", verdict)
    states = planted_once.rows(
        """SELECT kind, state FROM tuned_judge_evaluation WHERE judge_id = 'verbose'
           UNION SELECT 'certificate', state FROM judge_certificates WHERE judge_id = 'verbose'
           ORDER BY 1"""
    )
    assert states == [("certificate", "fail"), ("fitness", "fail"), ("improvement", "fail")]


def test_check_of_the_folder_says_what_the_held_out_test_said(planted_once: Evaluated) -> None:
    report = json.loads((planted_once.path / "out/report.json").read_text("utf-8"))
    result = eval_assets.check(planted_once.path)

    verdicts = {of["judge"]: of["verdict"] for of in report["judges"]}
    assert {name: of.verdict.value for name, of in result.judges.items()} == verdicts
    assert [of.sentence for of in result.judges.values()] == [
        of["sentence"] for of in report["judges"]
    ]
    result.require("steady")


def test_what_was_certified_is_near_what_was_planted(planted_once: Evaluated) -> None:
    with (PLANTED / "planted.csv").open(newline="") as file:
        expected = {row["judge_id"]: row for row in csv.DictReader(file)}
    [(harsh,)] = planted_once.rows(
        """SELECT kappa FROM tuned_judge_evaluation
           WHERE judge_id = 'harsh' AND kind = 'improvement'"""
    )
    [(steady,)] = planted_once.rows(
        """SELECT kappa FROM tuned_judge_evaluation
           WHERE judge_id = 'steady' AND kind = 'fitness'"""
    )

    assert harsh == pytest.approx(float(expected["harsh"]["kappa_mapped"]), abs=0.1)
    assert steady == pytest.approx(float(expected["steady"]["kappa_raw"]), abs=0.1)


def test_certified_judges_have_files_that_fit_the_published_schema(
    planted_once: Evaluated,
) -> None:
    files = certificates(planted_once)

    assert set(files) == {"harsh-1.0.1.json", "steady-1.0.0.json"}
    for content in files.values():
        jsonschema.validate(json.loads(content), json.loads(SCHEMA.read_text("utf-8")))
    rows = planted_once.rows(
        """SELECT judge_id, version, fitness, improvement, certificate IS NOT NULL, stale_because
           FROM judge_certificates ORDER BY judge_id"""
    )
    assert rows == [
        ("harsh", "1.0.1", "undecided", "accepted", True, None),
        ("steady", "1.0.0", "fit", "unchanged", True, None),
        ("verbose", "1.0.0", "unfit", "unchanged", False, None),
    ]


def test_a_part_of_the_responses_is_certified_where_the_whole_is_undecided(
    planted_once: Evaluated,
) -> None:
    claims = planted_once.rows(
        """SELECT judge_id, claim, doubt_source, doubt_threshold, round(share, 2)
           FROM judge_certificates ORDER BY judge_id"""
    )
    [(harsh,)] = planted_once.rows(
        "SELECT certificate FROM judge_certificates WHERE judge_id = 'harsh'"
    )
    claim = json.loads(str(harsh))["claims"]["fitness_in_part"]

    assert claims == [
        ("harsh", "fit_in_part", "steady", 0.0, 0.38),
        ("steady", "fit", None, None, None),
        ("verbose", None, None, None, None),
    ]
    assert claim["verdict"] == "fit"
    assert claim["kappa"] > claim["kappa_people"] - claim["margin"] * claim["share"]
    assert claim["ratio_low"] < claim["ratio"] < claim["ratio_high"] < 1
    assert claim["ratio"] == pytest.approx(
        (1 - claim["kappa"]) / (1 - claim["kappa_people"] + claim["margin"] * claim["share"])
    )
    [(reason,)] = planted_once.rows(
        "SELECT reason FROM judge_certificates WHERE judge_id = 'harsh'"
    )
    assert "on all responses, 65 groups cannot tell" in str(reason)


def test_responses_outside_the_certified_part_need_a_person(planted_once: Evaluated) -> None:
    needs = planted_once.rows(
        """SELECT harsh.needs_person, harsh.status, harsh.raw_score, steady.raw_score
           FROM judge_scores AS harsh JOIN judge_scores AS steady
           USING (response_id, question_id)
           WHERE harsh.judge_id = 'harsh' AND steady.judge_id = 'steady'"""
    )
    steps = planted_once.rows(
        "SELECT judge_value, mapped_value FROM score_calibration WHERE judge_id = 'harsh'"
    )
    fitted = {row[0]: row[1] for row in steps}

    assert {bool(needed) for needed, *_ in needs} == {True, False}
    for needed, status, harsh, steady in needs:
        if status == "ok" and harsh in fitted:
            assert needed == (fitted[harsh] != steady)
    assert planted_once.rows(
        "SELECT DISTINCT needs_person FROM judge_scores WHERE judge_id <> 'harsh'"
    ) == [(None,)]


def test_the_combined_score_takes_the_judge_on_its_part_and_people_elsewhere(
    planted_once: Evaluated,
) -> None:
    [(n, mean)] = planted_once.rows(
        """SELECT n, mean FROM score_summary
           WHERE rater_kind = 'combined' AND slice = 'all' AND model_name IS NULL"""
    )
    [(n_expected, expected)] = planted_once.rows(
        """SELECT count(coalesce(score, human)), avg(coalesce(score, human))
           FROM stand_in_scores LEFT JOIN (
               SELECT response_id, question_id, avg(value) AS human
               FROM human_labels GROUP BY ALL
           ) USING (response_id, question_id)"""
    )

    assert n == n_expected
    assert mean == pytest.approx(expected, abs=1e-12)


@pytest.fixture(scope="module")
def other_test_once(planted_once: Evaluated, run_once: RunOnce) -> Evaluated:
    """The evaluated judges after a run with other labels in the test: not to be written."""

    def make_and_run(path: Path) -> None:
        folder = Evaluated(shutil.copytree(planted_once.path, path))
        relabelled(folder, splits={"test"})
        selected = "+judge_certificates,+score_summary"
        assert folder.call("run", "--select", selected).returncode == 0

    return run_once("other-test", make_and_run)


@pytest.mark.slow
def test_no_combined_score_is_left_once_no_part_is_certified(other_test_once: Evaluated) -> None:
    combined = "SELECT count(*) FROM score_summary WHERE rater_kind = 'combined'"

    assert other_test_once.rows("SELECT count(*) FROM stand_in_scores") == [(0,)]
    assert other_test_once.rows(combined) == [(0,)]


@pytest.mark.slow
def test_sheets_and_queues_hold_what_needs_a_person(planted: Evaluated) -> None:
    """A response that came after the run, and that no judge has scored, needs a person too."""
    path = planted.path / "evaluation.yaml"
    path.write_text(path.read_text() + "labelling: {raters: [dora], show: [model_name]}\n")
    responses = planted.path / "responses.csv"
    with responses.open(newline="") as file:
        *_, last = csv.DictReader(file)
    with responses.open("a", newline="") as file:
        csv.DictWriter(file, list(last)).writerow(last | {"response_id": "new-1"})
    outside = {
        str(name)
        for (name,) in planted.rows(
            "SELECT response_id FROM judge_scores WHERE judge_id = 'harsh' AND needs_person"
        )
    } | {"new-1"}
    rated = {str(name) for (name,) in planted.rows("SELECT response_id FROM human_labels")}

    def written(folder: str) -> tuple[str, set[str]]:
        to = planted.path / folder
        output = called(planted, sheet_command, "--needed", "--to", str(to)).stdout
        with (to / "dora.csv").open(newline="", encoding="utf-8-sig") as file:
            return output, {row["response_id"] for row in csv.DictReader(file)}

    study = read_study(planted.path, database=planted.database).study
    assert {unit.response.response_id for unit in study.queue("dora").units} == outside
    output, needed = written("steady-is-fit")
    assert needed == {"new-1"}
    assert output.startswith(
        "completeness: 1 of 601 responses need a person, 1 of them because a judge has no score; "
        "0 are rated\n"
    )
    with connect(planted.database) as connection:
        connection.execute(
            "UPDATE judge_certificates SET fitness = 'undecided' WHERE judge_id = 'steady'"
        )
    output, needed = written("on-a-part")
    assert needed == outside - rated
    assert f"{len(outside)} of 601 responses need a person, 1 of them" in output


@pytest.mark.slow
def test_a_part_is_stale_once_the_scores_of_its_doubt_change(planted: Evaluated) -> None:
    path = planted.path / "judge_scores.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["judge_model"] == "steady" and row["score"] == "5":
            row["score"] = "4"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    assert planted.materialize(*CERTIFYING, checks=False).success

    [(stale,)] = planted.rows(
        "SELECT stale_because FROM judge_certificates WHERE judge_id = 'harsh'"
    )
    assert stale == (
        "the scores that its doubt comes from changed since the test; eval-assets tune evaluates "
        "harsh again, which counts, if train and dev give a claim a chance of 50 % or tuning: "
        "{evaluate: always} is declared"
    )
    assert planted.rows("SELECT DISTINCT needs_person FROM judge_scores") == [(None,)]
    assert planted.rows("SELECT count(*) FROM stand_in_scores") == [(0,)]


@pytest.mark.slow
def test_nothing_that_is_made_depends_on_a_label_of_the_test(
    planted_once: Evaluated, tmp_path: Path
) -> None:
    """Maps, versions and splits are the same to the last bit; only verdicts are others."""
    other = Evaluated(shutil.copytree(PLANTED, tmp_path / "data", ignore=WITHOUT_RESULTS))
    relabelled(other, splits={"test"})
    assert other.materialize(*CERTIFYING, checks=False).success

    for table in MADE:
        query = f"SELECT * EXCLUDE (stale_because) FROM {table} ORDER BY ALL"  # noqa: S608
        if table == "judge_splits":
            query = query.replace("stale_because", "stale_because, data_version")
        assert other.rows(query) == planted_once.rows(query), table
    versions = "SELECT * EXCLUDE (created_at) FROM judge_versions ORDER BY ALL"
    assert other.rows(versions) == planted_once.rows(versions)
    assert other.rows(VERDICTS) != planted_once.rows(VERDICTS)


@pytest.mark.slow
def test_a_run_on_unchanged_data_reads_no_test_again(planted: Evaluated) -> None:
    before = certificates(planted)
    assert planted.materialize(*CERTIFYING, checks=False).success

    assert planted.rows("SELECT question_id, k FROM test_set_uses") == [("completeness", 1)]
    assert certificates(planted) == before


@pytest.mark.slow
def test_everything_under_out_comes_back_without_another_reading(planted: Evaluated) -> None:
    before = certificates(planted), planted.rows(VERDICTS)
    shutil.rmtree(planted.path / "out")
    assert planted.materialize(*CERTIFYING, checks=False).success

    assert planted.rows("SELECT question_id, k FROM test_set_uses") == [("completeness", 1)]
    assert (certificates(planted), planted.rows(VERDICTS)) == before


@pytest.mark.slow
def test_changed_labels_make_certificates_stale_and_are_read_when_somebody_asks(
    other_test_once: Evaluated, tmp_path: Path
) -> None:
    planted = Evaluated(shutil.copytree(other_test_once.path, tmp_path / "data"))
    stale = planted.rows("SELECT DISTINCT stale_because FROM judge_certificates")

    assert any(str(row[0]).startswith("human ratings in the test changed; ") for row in stale)
    assert planted.rows("SELECT max(k) FROM test_set_uses") == [(1,)]

    assert planted.materialize(*CERTIFYING, checks=False, tags={READ_TESTS_TAG: "true"}).success
    assert planted.rows("SELECT max(k) FROM test_set_uses") == [(2,)]
    levels = planted.rows("SELECT level FROM test_set_uses ORDER BY k")
    assert levels == [(0.025 / 5,), (0.05 / 6 / 5,)]


@pytest.mark.slow
def test_a_check_warns_of_a_stale_certificate_before_certificates_are_made_again(
    planted: Evaluated,
) -> None:
    folder = EvaluationFolder.at(planted.path)
    valid = certificates_valid(folder)
    labels = planted.path / "labels.csv"
    labels.write_text("".join(labels.read_text().splitlines(keepends=True)[:-2]))
    planted.materialize("human_labels", checks=False)
    stale = certificates_valid(folder)

    assert (valid.passed, valid.description) == (True, "Valid: 2.")
    assert (stale.passed, stale.severity) == (False, dg.AssetCheckSeverity.WARN)
    lines = str(stale.description).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "certificate of harsh 1.0.1 on completeness",
        "certificate of steady 1.0.0 on completeness",
    ]
    assert all("the ratings or scales changed since the last full run" in line for line in lines)


def test_a_run_that_a_gate_stops_warns_of_its_stale_certificates(planted: Evaluated) -> None:
    """Dagster skips the check together with the certificates, and would show it as crashed."""
    declaration = planted.path / "evaluation.yaml"
    text = declaration.read_text()
    declaration.write_text(text.replace("gates:\n", "gates:\n  human_a_hh: {min: 0.999}\n"))
    result = planted.materialize()

    assert not result.success
    [check] = [
        evaluation
        for evaluation in result.get_asset_check_evaluations()
        if evaluation.check_name == "certificates_valid"
    ]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "the question no longer passes the gates" in str(check.description)


@pytest.mark.slow
def test_a_judge_that_is_gone_keeps_its_certificate_as_a_stale_one(planted: Evaluated) -> None:
    path = planted.path / "evaluation.yaml"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "id: steady" not in line))
    assert planted.materialize(*CERTIFYING, checks=False).success

    assert planted.rows(
        "SELECT stale_because FROM judge_certificates WHERE judge_id = 'steady'"
    ) == [("the judge or the question is no longer declared",)]


@pytest.mark.slow
def test_a_judge_can_rate_as_a_version_and_keeps_its_certificate(planted: Evaluated) -> None:
    path = planted.path / "evaluation.yaml"
    declared = path.read_text()
    files = certificates(planted)
    followed = declared.replace("{id: harsh,", "{id: harsh, version: current,")
    path.write_text(followed.replace("{id: steady,", "{id: steady, version: 1.0.0,"))
    assert planted.materialize(*CERTIFYING, checks=False).success

    assert planted.rows("SELECT judge_id, version FROM judges WHERE version IS NOT NULL") == [
        ("harsh", "1.0.1"),
        ("steady", "1.0.0"),
    ]
    mapped = set(
        planted.rows(
            """SELECT judge_value, mapped_value FROM score_calibration
               WHERE judge_id = 'harsh' AND judge_value IS NOT NULL"""
        )
    )
    pairs = set(
        planted.rows(
            """SELECT DISTINCT raw_score, score FROM judge_scores
               WHERE judge_id = 'harsh' AND raw_score IN (FROM (SELECT judge_value
                                                                FROM score_calibration
                                                                WHERE judge_id = 'harsh'))"""
        )
    )
    assert pairs <= mapped
    assert any(raw != score for raw, score in pairs)
    assert planted.rows(
        "SELECT DISTINCT score - raw_score FROM judge_scores WHERE judge_id = 'steady'"
    ) == [(0,)]
    assert certificates(planted) == files
    assert planted.rows("SELECT DISTINCT stale_because FROM judge_certificates") == [(None,)]
    assert planted.rows("SELECT count(*) FROM test_set_uses") == [(1,)]

    path.write_text(declared.replace("{id: harsh,", "{id: harsh, version: 1.4.0,"))
    refused = planted.call("run")
    assert refused.returncode == 1
    assert refused.stdout == ""  # nothing ran
    line = 1 + path.read_text().splitlines().index("judges:")
    assert (
        f"evaluation.yaml:{line + 1}:judges[0].version: harsh has no version 1.4.0. "
        "Use 1.0.0, 1.0.1, current, or remove the key." in refused.stderr
    )


@pytest.mark.slow
def test_a_jury_is_tested_beside_its_members(planted: Evaluated) -> None:
    path = planted.path / "evaluation.yaml"
    path.write_text(path.read_text() + "tuning: {steps: [calibration, jury]}\n")
    assert planted.materialize(*CERTIFYING, checks=False).success

    jury = planted.rows("SELECT step, definition FROM judge_versions WHERE judge_id = 'jury'")
    [(step, definition)] = jury
    weights = json.loads(str(definition))["weights"]["completeness"]
    assert step == "jury"
    assert weights["steady"] > weights["harsh"] > weights["verbose"]
    # another candidate is another set of candidates: a second evaluation, of one part fewer
    assert planted.rows("SELECT k, level FROM test_set_uses ORDER BY k") == [
        (1, 0.025 / 5),
        (2, 0.05 / 6 / 4),
    ]


def test_systems_are_compared_with_the_judges_corrected_by_people(
    planted_once: Evaluated,
) -> None:
    """People put `aster` about .3 above `cedar`; the harsh judge alone sees less than half."""
    [(judge_only, value, low, n_labelled, n_responses)] = planted_once.rows(
        """SELECT judge_only, value, low, n_labelled, n_responses FROM system_comparison
           WHERE judge_id = 'harsh' AND kind = 'difference' AND slice = 'all'
             AND system = 'aster' AND other_system = 'cedar'"""
    )

    assert float(str(judge_only)) < 0.5 * float(str(value))
    assert float(str(low)) > 0
    outside_test = planted_once.rows(
        """SELECT count(*) FROM judge_splits JOIN responses USING (response_id)
           WHERE split <> 'test' AND model_name IN ('aster', 'cedar')"""
    )
    assert [(n_labelled,)] == outside_test
    assert n_responses == 400


def test_a_test_takes_sixty_response_groups(open_once: Evaluated) -> None:
    """Twelve prompts are too few: each judge says so, and no evaluation is spent."""
    result = open_once.rows("SELECT DISTINCT verdict, reading FROM tuned_judge_evaluation")
    reasons = open_once.rows("SELECT DISTINCT reason FROM tuned_judge_evaluation")

    assert result == [("not_evaluable", None)]
    assert reasons == [("12 response groups, and 60 are needed to hold out a test",)]
    assert open_once.rows("SELECT count(*) FROM test_set_uses") == [(0,)]
    assert open_once.rows("SELECT count(*) FROM judge_certificates") == [(0,)]


def called(folder: Evaluated, command: object, *arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(
        command,  # type: ignore[arg-type]
        [*arguments, "--data", str(folder.path)],
        standalone_mode=False,
        catch_exceptions=False,
    )


@pytest.mark.slow
def test_the_command_lists_certificates_and_answers_whether_a_judge_may_be_used(
    planted_once: Evaluated,
) -> None:
    listed = called(planted_once, certificates_command, "--json")
    rows = {row["judge_id"]: row for row in json.loads(listed.stdout)}
    steady = called(planted_once, certificates_command, "--require", "steady:completeness")
    verbose = called(planted_once, certificates_command, "--require", "verbose")
    harsh = called(planted_once, certificates_command, "--require", "harsh")

    assert rows["steady"]["certificate"]["holds"] == ["fit", "fit_in_part"]
    assert rows["verbose"]["certificate"] is None
    in_words = called(planted_once, certificates_command).stdout
    assert "set version: 1.0.1 for harsh in evaluation.yaml.\n" in in_words
    [line] = [line for line in in_words.splitlines() if line.startswith("harsh ")][:1]
    assert re.split("  +", line)[3:5] == ["PASS", "38 % of responses"]
    assert "steady in evaluation.yaml" not in in_words
    assert (steady.return_value, steady.stdout) == (0, "steady on completeness: PASS\n")
    assert (verbose.return_value, verbose.stdout) == (3, "verbose on completeness: FAIL\n")
    assert harsh.return_value == 4
    assert harsh.stdout.startswith(
        "harsh on completeness: PASS on 38 % of what it scores as version 1.0.1 (where steady "
        "gives the same score); people rate the rest: eval-assets sheet --data "
        f"{planted_once.path} --needed. Exit code 4, because on all responses: 65 groups cannot "
        "tell"
    )


def test_the_report_says_which_judge_may_be_used(planted_once: Evaluated) -> None:
    page = (planted_once.path / "out" / "report.md").read_text()

    assert "**Can steady replace one of us? PASS.**" in page
    assert "| steady | PASS | all responses |" in page.replace("| 1.0.0 ", "")


def test_certificate_cannot_be_verified_before_a_run(planted: Evaluated, tmp_path: Path) -> None:
    path = tmp_path / "steady-1.0.0.json"
    shutil.copy(planted.path / "out" / "certificates" / path.name, path)
    shutil.rmtree(planted.path / "out")

    result = called(planted, certificates_command, "verify", str(path))

    assert result.return_value == 4
    assert result.stderr.startswith("There are no results. Run: eval-assets run --data ")
    assert not (planted.path / "out").exists()


@pytest.mark.slow
def test_every_figure_of_a_certificate_is_computed_again_on_another_machine(
    planted: Evaluated,
) -> None:
    for name in ("harsh-1.0.1.json", "steady-1.0.0.json"):
        path = planted.path / "out" / "certificates" / name
        result = called(planted, certificates_command, "verify", str(path))
        assert (result.return_value, result.stdout) == (
            0,
            f"{path}: every figure of 1 question(s) was computed again\n",
        )

    path = planted.path / "out" / "certificates" / "steady-1.0.0.json"
    inputs = path.read_text()

    def verified(*place: str | int, value: object) -> str:
        """Return what is said once one value of the file is another one."""
        edited = json.loads(inputs)
        inner = edited
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = value
        path.write_text(json.dumps(edited))
        result = called(planted, certificates_command, "verify", str(path))
        assert result.return_value == 3
        return result.stdout

    predicate, question = ("predicate",), ("predicate", "questions", 0)
    assert verified(*question, "claims", "fitness", "kappa", value=0.776).startswith(
        "completeness: claims.fitness.kappa: the file says 0.776, recomputed 0.7767"
    )
    assert verified(*question, "claims", "fitness", "margin", value=0.5) == (
        "completeness: claims.fitness.margin: the file says 0.5, recomputed 0.1\n"
    )
    assert "cost_per_1000_usd" in verified(*question, "cost_per_1000_usd", value=0.01)
    assert "evaluation 2 of test 1" in verified(*question, "reading", value=2)
    assert "no certificate of steady-9.0.0" in verified(
        *predicate, "judge", "version", value="9.0.0"
    )
    assert verified(*predicate, "supersedes", value="0.9.0").startswith("predicate.supersedes: ")
    assert verified("subject", 0, "name", value="gpt").startswith("subject[0].name: ")

    path.write_text(json.dumps({**json.loads(inputs), "predicate": {"questions": []}}))
    with pytest.raises(InputError, match="not a certificate of a judge"):
        called(planted, certificates_command, "verify", str(path))


def test_a_plan_says_what_the_next_reading_could_show(planted_once: Evaluated) -> None:
    result = called(planted_once, tune, "--plan")

    assert result.return_value == 0
    assert "2 of 5" in result.stdout
    assert "harsh 1.0.1" in result.stdout
    assert "The declared steps ask no model anything: they cost nothing." in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def verbose_alone(folder: Evaluated, *, evaluate: str = "") -> None:
    """Leave the judge that is no better than chance, before any run."""
    shutil.rmtree(folder.path / "out")
    (folder.path / "ledger.sqlite").unlink()
    path = folder.path / "evaluation.yaml"
    lines = path.read_text().splitlines(keepends=True)
    judge_lines = ("id: steady", "id: harsh")
    section = "".join(line for line in lines if not any(other in line for other in judge_lines))
    path.write_text(section + (f"tuning: {{evaluate: {evaluate}}}\n" if evaluate else ""))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evaluate", "reason"),
    [
        ("", "by train and dev, verbose 1.0.0 "),
        ("never", "tuning: {evaluate: never} is declared"),
    ],
)
def test_an_evaluation_that_is_held_back_does_not_count_and_is_explained(
    planted: Evaluated, evaluate: str, reason: str
) -> None:
    verbose_alone(planted, evaluate=evaluate)
    run = planted.call("run")
    listed = called(planted, certificates_command)
    rows = planted.rows("SELECT DISTINCT verdict, reason, reading FROM tuned_judge_evaluation")

    [(verdict, reason_of_row, reading)] = rows
    assert (verdict, reading) == ("not_evaluated", None)
    assert str(reason_of_row).startswith(reason)
    assert planted.rows("SELECT count(*) FROM test_set_uses") == [(0,)]
    message = f"The held-out test of completeness was not evaluated: {reason_of_row}."
    assert "chances in evaluation" not in run.stdout
    for text in (listed.stdout, (planted.path / "out" / "report.md").read_text()):
        assert message in " ".join(text.split())
    required = called(planted, certificates_command, "--require", "verbose")
    assert (required.return_value, required.stdout) == (
        4,
        f"verbose on completeness: NOT MEASURED: not evaluated: {reason_of_row}\n",
    )


@pytest.mark.slow
def test_an_evaluation_without_a_chance_is_made_if_that_is_declared(planted: Evaluated) -> None:
    verbose_alone(planted, evaluate="always")
    assert planted.materialize(*CERTIFYING, checks=False).success

    assert planted.rows("SELECT k FROM test_set_uses") == [(1,)]
    assert ("verbose", "fitness", "unfit") in planted.rows(VERDICTS)


def test_an_undecided_verdict_says_how_many_labels_would_decide(planted_once: Evaluated) -> None:
    """The stored reason, which verification compares, holds no figure of train and dev."""
    [(reason, groups_wanted)] = planted_once.rows(
        "SELECT reason, groups_wanted FROM judge_certificates WHERE judge_id = 'harsh'"
    )
    [(n_responses, n_labels, at_gap)] = planted_once.rows(
        """SELECT responses_per_group, labels_per_group, groups_at_gap FROM sealed_test_plans
           WHERE judge_id = 'harsh'"""
    )

    assert n_responses == pytest.approx(450 / 65)
    assert n_labels == pytest.approx(1350 / 65)
    assert int(str(at_gap)) > int(str(groups_wanted))
    assert "rated responses" not in str(reason)
    assert "harsh on completeness: at the level" in called(planted_once, tune, "--plan").stdout


def test_showing_the_test_prints_everything_and_ends_it(planted: Evaluated) -> None:
    result = called(planted, tune, "--show-test", "completeness", "--yes")
    [verbose] = [
        line for line in result.stdout.splitlines() if "fitness" in line and "FAIL" in line
    ]

    assert result.return_value == 0
    assert verbose.split()[:4] == ["verbose", "1.0.0", "fitness", "FAIL"]
    assert float(verbose.split()[4]) == pytest.approx(0, abs=0.15)
    assert planted.rows("SELECT k FROM test_set_uses ORDER BY k") == [(1,), (21,)]
    repeat = called(planted, tune, "--show-test", "completeness", "--yes")
    assert repeat.stdout == result.stdout.rpartition("The test of completeness was shown.")[0]
    assert planted.rows("SELECT k FROM test_set_uses ORDER BY k") == [(1,), (21,)]


@pytest.mark.slow
def test_without_holding_out_no_judge_is_certified(planted: Evaluated) -> None:
    (planted.path / "ledger.sqlite").unlink()
    shutil.rmtree(planted.path / "out")
    with (planted.path / "evaluation.yaml").open("a") as file:
        file.write("\ntuning: {holdout: false, evaluate: always}\n")
    assert planted.call("run").returncode == 0

    [(n_rated,)] = planted.rows("SELECT count(*) FROM judge_splits")
    assert planted.rows("SELECT DISTINCT n_units FROM judge_human_agreement") == [(n_rated,)]
    assert planted.rows("SELECT * FROM test_set_uses") == []
    assert not certificates(planted)
    required = called(planted, certificates_command, "--require", "steady")
    assert required.return_value == 4
    assert "tuning: {holdout: false} is declared" in required.stdout


@pytest.mark.slow
def test_figures_of_judges_leave_out_the_test_until_it_is_shown(planted: Evaluated) -> None:
    [(n_seen,)] = planted.rows("SELECT count(*) FROM judge_splits WHERE split <> 'test'")
    [(n_rated,)] = planted.rows("SELECT count(*) FROM judge_splits")
    means = planted.rows(
        """SELECT DISTINCT n FROM score_summary
           WHERE rater_kind = 'human' AND slice = 'all' AND model_name IS NULL"""
    )
    assert means == [(n_seen,)]
    slices = "FROM agreement_by_slice WHERE rater_kind = 'human' AND slice = 'all'"
    assert planted.rows(f"SELECT max(n_units) {slices}") == [(n_seen,)]

    outside = planted.rows("SELECT DISTINCT n_units FROM judge_human_agreement")
    paired = planted.rows("SELECT DISTINCT n_paired FROM score_summary WHERE n_paired IS NOT NULL")
    listed = planted.rows(
        "SELECT * FROM judge_human_disagreements SEMI JOIN held_out_units USING (response_id)"
    )
    assert outside == [(n_seen,)]
    assert max(paired) == (n_seen,)
    assert listed == []

    # A judge with other scores on the test alone prints the same figures.
    figures = "SELECT * EXCLUDE (data_version) FROM judge_human_agreement ORDER BY judge_id"
    before = planted.rows(figures)
    path = planted.path / "judge_scores.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if split_of(row["response_id"].partition("-")[0], SplitShares()) == "test":
            row["score"] = "3"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    assert planted.call("run", "--select", COMPARED).returncode == 0
    assert planted.rows(figures) == before

    [question] = {row["question_id"] for row in rows}
    opened = CliRunner().invoke(
        tune, ["--show-test", question, "--data", str(planted.path)], input="y"
    )
    assert opened.exit_code == 0, opened.output
    assert planted.call("run", "--select", COMPARED).returncode == 0
    assert planted.rows("SELECT DISTINCT n_units FROM judge_human_agreement") == [(n_rated,)]


OF_PEOPLE = {
    *("human_labels", "human_agreement", "reference_values", "label_disagreements"),
    *("label_quality", "label_spread", "label_findings"),
}
"""Tables of labels and of agreement between people, which no judge affects."""

OF_ROWS = {
    *("combined_scores", "combined_scores_long", "hij_combined_scores"),
    *("ground_truth", "ground_truth_texts"),
}
"""Tables of single labels and scores, as the files have them."""

OF_RUNS = {"imports", "figure_fingerprints", "agreement_history"}
"""Tables of what was read and measured when."""


def tables_on_judges(folder: Evaluated) -> dict[str, list[str]]:
    """Return the rows of every table that has figures of judges, without times and versions."""
    columns: dict[str, list[str]] = {}
    for name, column, kind in folder.rows(
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
    ):
        if column not in {"data_version", "run_id"} and "TIMESTAMP" not in str(kind):
            columns.setdefault(str(name), []).append(f'"{column}"')
    rows = {}
    with connect(folder.database) as connection:
        for name in sorted(columns.keys() - OF_PEOPLE - OF_ROWS - OF_RUNS):
            of_people = "false"
            if '"rater_kind"' in columns[name]:
                of_people = "rater_kind = 'human'"
            if name == "figures":
                of_people = (
                    """table_name LIKE 'human_agreement%' OR key LIKE '%"rater_kind":"human"%'"""
                )
            if name == "gate_verdicts":
                of_people = "gate LIKE 'human%'"
            query = f"SELECT {', '.join(columns[name])} FROM {name} WHERE NOT ({of_people})"  # noqa: S608
            # Histories repeat rows.
            rows[name] = sorted(set(map(str, connection.execute(query).fetchall())))
    return rows


def lines_on_judges(text: str) -> set[str]:
    """Return the lines that name a judge, except those of a history, which begin with a day."""
    lines = text.splitlines()
    return {x for x in lines if re.search("harsh|steady|verbose", x) and "| 20" not in x}


@pytest.mark.slow
def test_no_figure_of_a_judge_depends_on_a_sealed_label(planted: Evaluated) -> None:
    """One of the judges rates with the map that was fitted on train."""
    path = planted.path / "evaluation.yaml"
    text = path.read_text().replace("{id: harsh, ", "{id: harsh, version: 1.0.1, ")
    path.write_text(f"{text}\ntuning: {{evaluate: never}}\n")
    with sqlite3.connect(planted.path / "ledger.sqlite") as ledger:
        ledger.execute("DELETE FROM test_set_uses")
    with connect(planted.database) as connection:
        connection.execute("DELETE FROM test_set_uses; DELETE FROM judge_certificates")

    def measured() -> tuple[dict[str, list[str]], set[str], set[str]]:
        output = planted.call("run").stdout
        report = (planted.path / "out" / "report.md").read_text()
        return tables_on_judges(planted), lines_on_judges(output), lines_on_judges(report)

    before = measured()
    labels = planted.rows("SELECT * FROM human_labels")
    relabelled(planted, splits={"test"})
    after = measured()

    assert planted.rows("SELECT * FROM human_labels") != labels
    assert before[0]["system_comparison"]
    corrected = "SELECT count(value) > 0 FROM system_comparison WHERE judge_id = 'steady'"
    assert planted.rows(corrected) == [(True,)]
    assert {name: rows for name, rows in before[0].items() if after[0][name] != rows} == {}
    assert after[1:] == before[1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    "assets", [[*CERTIFYING, "agreement_report"], ["judge_scores", "agreement_report"]]
)
def test_a_verdict_without_certificate_goes_stale_with_the_judges_scores(
    planted: Evaluated, assets: list[str]
) -> None:
    path = planted.path / "judge_scores.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["judge_model"] == "verbose":
            row["score"] = str(6 - int(row["score"]))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    assert planted.materialize(*assets).success

    verbose = called(planted, certificates_command, "--require", "verbose")
    steady = called(planted, certificates_command, "--require", "steady")
    assert verbose.return_value == 4
    assert verbose.stdout == (
        "verbose on completeness: NOT MEASURED: the judge's scores changed since the test; "
        "eval-assets tune evaluates verbose again, which counts, if train and dev give a claim a "
        "chance of 50 % or tuning: {evaluate: always} is declared\n"
    )
    assert steady.return_value == 0
    listing = called(planted, certificates_command).stdout.splitlines()
    [line] = [line for line in listing if line.startswith("verbose  ")]
    assert re.split("  +", line)[3:5] == ["NOT MEASURED", "--"]
    report = json.loads((planted.path / "out" / "report.json").read_text())
    stale = {row["judge_id"] for row in report["certificates"] if row["stale_because"]}
    assert stale == {"verbose"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "edit", "reason"),
    [
        ("steady", "judge_scores SET raw_score = 1 WHERE raw_score = 5", "scores changed since"),
        ("verbose", "judge_scores SET raw_score = 1 WHERE raw_score = 5", "scores changed since"),
        ("verbose", "judge_certificates SET fitness = 'fit' WHERE true", ""),
    ],
)
def test_an_edited_table_has_one_meaning_for_all_checks(
    planted: Evaluated, judge: str, edit: str, reason: str
) -> None:
    with connect(planted.database) as connection:
        connection.execute(f"UPDATE {edit} AND judge_id = '{judge}'")

    required = called(planted, certificates_command, "--require", judge)
    verified = called(planted, certificates_command, "verify")
    listed = json.loads(called(planted, certificates_command, "--json").stdout)

    assert required.return_value == (4 if reason else 3)
    stale = {row["judge_id"] for row in listed if row["stale_because"]}
    dependent = (
        {"harsh", "steady"} if judge == "steady" else {judge}
    )  # harsh's part rests on steady
    assert stale == (dependent if "changed" in reason else set())
    assert reason in required.stdout
    assert verified.return_value == (4 if judge == "steady" else 0)
    assert judge == "verbose" or reason in verified.stdout


def test_an_edited_certificate_file_fails_its_verification(planted: Evaluated) -> None:
    path = planted.path / "out" / "certificates" / "steady-1.0.0.json"
    path.write_text(path.read_text().replace('"verdict": "fit"', '"verdict": "unfit"', 1))

    required = called(planted, certificates_command, "--require", "steady")
    verified = called(planted, certificates_command, "verify", str(path))

    assert (required.return_value, verified.return_value) == (0, 3)


@pytest.mark.slow
def test_certificates_are_stale_in_every_form_once_labels_changed(planted: Evaluated) -> None:
    labels = planted.path / "labels.csv"
    labels.write_text("".join(labels.read_text().splitlines(keepends=True)[:-1]))

    listed = called(planted, certificates_command)
    required = called(planted, certificates_command, "--require", "steady")
    rows = json.loads(called(planted, certificates_command, "--json").stdout)
    summary = planted.call("gates", "--format", "markdown").stdout

    reason = "the files of human_labels changed since the last full run"
    assert all(reason in row["stale_because"] for row in rows)
    for text in (listed.stdout, summary):
        assert "no longer valid, because" in text
        assert reason in " ".join(text.split())
    assert (required.return_value, "NOT MEASURED: " in required.stdout) == (4, True)


def test_commands_say_what_to_run_once_the_results_are_deleted(planted: Evaluated) -> None:
    shutil.rmtree(planted.path / "out")

    for arguments in ([], ["--require", "steady"]):
        result = called(planted, certificates_command, *arguments)
        assert result.return_value == (4 if arguments else 0)
        assert "There are no results. Run: eval-assets run" in result.stderr
    gates = planted.call("gates")
    assert gates.returncode == 3
    assert "There are no results. Run: eval-assets run" in gates.stderr
    assert not (planted.path / "out").exists()


@pytest.mark.slow
def test_renamed_responses_do_not_make_a_new_test(planted: Evaluated) -> None:
    for name in ("responses.csv", "labels.csv", "judge_scores.csv"):
        path = planted.path / name
        path.write_text(re.sub(r"\bq(\d{3}-)", r"item\1", path.read_text()))
    assert planted.materialize(*CERTIFYING, checks=False, tags={READ_TESTS_TAG: "true"}).success

    assert planted.rows("SELECT k, level FROM test_set_uses ORDER BY k") == [
        (1, pytest.approx(0.025 / 5)),
        (2, pytest.approx(0.05 / 6 / 5)),
    ]
