"""Prompt tuning finds what is planted in a judge, within its budget, and certifies nothing else."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from eval_assets.cli.certificates import certificates as certificates_command
from tests.e2e.conftest import Evaluated
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.planted import Planted
from tests.fake_provider.server import RunningProvider, running

pytestmark = pytest.mark.slow

N_GROUPS, PER_GROUP = 100, 2
CURE = "Count the steps that are named."


def made(path: Path, *, steps: str, writer: str = ", writer: gpt") -> Evaluated:
    """Answers whose worth two people see, rated by one judge whose errors no map can undo."""
    rng = np.random.default_rng(7)
    path.mkdir()
    n_answers = N_GROUPS * PER_GROUP
    worth = rng.integers(1, 6, n_answers)
    names = [f"g{k // PER_GROUP}-{k % PER_GROUP}" for k in range(n_answers)]
    # Every answer has words of its own, so that examples are not alike.
    texts = [
        f"{name}x {'-'.join(map(str, rng.integers(0, 99, 6)))} end{k}"
        for k, name in enumerate(names)
    ]
    people = [np.clip(worth + rng.choice([0, 0, 0, 1], n_answers), 1, 5) for _ in range(2)]
    wrong = np.where(rng.random(n_answers) < 0.5, rng.integers(1, 6, n_answers), worth)
    (path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name,group_id\n"
        + "".join(
            f"{name},Prompt {name},{text},m,{name.partition('-')[0]}\n"
            for name, text in zip(names, texts, strict=True)
        )
    )
    (path / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\n"
        + "".join(
            f"{name},r{r},clarity,{inputs}\n"
            for r, ratings in enumerate(people)
            for name, inputs in zip(names, ratings, strict=True)
        )
    )
    (path / "planted.json").write_text(
        json.dumps(
            {
                "responses": [
                    {"text": text, "score": int(off), "cured": int(true)}
                    for text, off, true in zip(texts, wrong, worth, strict=True)
                ]
            }
        )
    )
    (path / "evaluation.yaml").write_text(
        "name: planted-prompt\n"
        "rubric: [{id: clarity, question: How clear is it?, scale: likert5}]\n"
        "judges: [{id: gpt, provider: openai, model: gpt-6-luna}]\n"
        "budget_usd: 1.0\n"
        f"tuning: {{steps: [{steps}]{writer}, max_usd: 0.5}}\n"
    )
    return Evaluated(path)


def planted_in(folder: Evaluated, *, cures: tuple[str, ...]) -> Planted:
    """Return what the judge of a folder answers."""
    uncured = Planted.read(folder.path / "planted.json")
    return Planted(scores=uncured.scores, cures=cures, writes=(CURE,))


def ask(provider: RunningProvider, patch: pytest.MonkeyPatch) -> None:
    """Let live judges of this process be the provider's."""
    for name, value in provider.environment.items():
        patch.setenv(name, value)


def run(folder: Evaluated, monkeypatch: pytest.MonkeyPatch, *, cures: tuple[str, ...]) -> None:
    """Evaluate with the planted judge."""
    with running(Behaviour(planted=planted_in(folder, cures=cures))) as provider:
        ask(provider, monkeypatch)
        assert folder.materialize().success


def certificate_of(folder: Evaluated) -> dict[str, Any]:
    """Return the certificate of the tuned judge."""
    path = folder.path / "out" / "certificates" / "gpt-1.1.0.json"
    result: dict[str, Any] = json.loads(path.read_text())
    return result


@dataclass(frozen=True)
class Cured:
    """The planted judge after its prompts were tuned.

    Args:
        folder: Not to be written.
        provider: Which sent the replies that the ledger has.
        n_requests: Sent by the run.
    """

    folder: Evaluated
    provider: RunningProvider
    n_requests: int


@pytest.fixture(scope="module")
def cured_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cured]:
    """The judge whose error a rule undoes, after one run of everything."""
    path = tmp_path_factory.mktemp("cured") / "data"
    folder = made(path, steps="judge_guidelines, calibration")
    with running(Behaviour(planted=planted_in(folder, cures=(CURE,)))) as provider:
        with pytest.MonkeyPatch.context() as patch:
            ask(provider, patch)
            assert folder.materialize().success
        yield Cured(folder, provider, provider.log.n_received)


def run_again(cured: Cured, folder: Evaluated, monkeypatch: pytest.MonkeyPatch) -> int:
    """Evaluate a copy of the folder; return how many requests that sent."""
    ask(cured.provider, monkeypatch)
    before = cured.provider.log.n_received
    assert folder.materialize().success
    return cured.provider.log.n_received - before


def test_rules_that_undo_the_error_are_found_tested_and_certified(
    cured_once: Cured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Evaluated(shutil.copytree(cured_once.folder.path, tmp_path / "data"))
    before, first = certificate_of(folder), cured_once.n_requests
    shutil.rmtree(folder.path / "out")  # scores with every prompt come back from the ledger
    second = run_again(cured_once, folder, monkeypatch)

    [(prompt, step)] = folder.rows(
        "SELECT prompt_text, step FROM judge_versions WHERE version = '1.1.0'"
    )
    assert (CURE in str(prompt), step) == (True, "judge_guidelines")
    verdicts = folder.rows("SELECT kind, verdict FROM tuned_judge_evaluation ORDER BY kind")
    assert ("improvement", "accepted") in verdicts
    assert ("fitness", "fit") in verdicts
    [(spent,)] = folder.rows("SELECT sum(cost_usd) FROM judge_calls WHERE started_at IS NOT NULL")
    assert 0 < float(str(spent)) < 1.0

    n_dev = folder.rows("SELECT count(*) FROM judge_splits WHERE split = 'dev'")[0][0]
    assert N_GROUPS * PER_GROUP + 1 + int(str(n_dev)) <= first <= 2 * N_GROUPS * PER_GROUP + 1
    assert second == 0
    assert folder.rows("SELECT count(*) FROM test_set_uses") == [(1,)]
    assert certificate_of(folder) == before
    assert folder.rows("SELECT DISTINCT stale_because FROM judge_certificates") == [(None,)]
    [shown] = before["predicate"]["questions"]
    costs = folder.rows(
        "SELECT prompt_hash, 1000 * avg(cost_usd) FROM tuned_judge_scores GROUP BY prompt_hash"
    )
    by_prompt = {str(prompt): float(str(usd)) for prompt, usd in costs}
    assert len(by_prompt) == 2
    tuned = before["predicate"]["judge"]["prompt_sha256"]
    assert shown["cost_per_1000_usd"] == pytest.approx(by_prompt[tuned])
    assert shown["cost_per_1000_usd"] > min(by_prompt.values())  # its prompt is longer


def test_a_judge_can_rate_with_the_prompt_that_was_certified_last(
    cured_once: Cured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Evaluated(shutil.copytree(cured_once.folder.path, tmp_path / "data"))
    before, first = certificate_of(folder), cured_once.n_requests

    def required() -> str:
        """Return what is said if the judge is required to be fit."""
        arguments = ["--require", "gpt", "--data", str(folder.path)]
        result = CliRunner().invoke(certificates_command, arguments, standalone_mode=False)
        assert result.return_value == 0
        return result.stdout

    assert required() == (
        "gpt on clarity: PASS as version 1.1.0, while it rates as 1.0.0: declare version: 1.1.0\n"
    )
    path = folder.path / "evaluation.yaml"
    path.write_text(path.read_text().replace("{id: gpt,", "{id: gpt, version: current,"))
    second = run_again(cured_once, folder, monkeypatch)

    # All answers are rated, so that they were scored with this prompt before its test.
    assert (first > 0, second) == (True, 0)
    assert folder.rows("SELECT version FROM judges") == [("1.1.0",)]
    assert required() == "gpt on clarity: PASS\n"
    differing = """
        SELECT count(*) FROM judge_scores JOIN tuned_judge_scores AS tuned
        USING (judge_id, question_id, response_id)
        JOIN judge_versions AS made ON made.prompt_hash = tuned.prompt_hash
        WHERE made.version = $version AND judge_scores.raw_score <> tuned.score"""
    assert folder.rows(differing.replace("$version", "'1.1.0'")) == [(0,)]
    assert folder.rows(differing.replace("$version", "'1.0.0'")) != [(0,)]
    assert certificate_of(folder) == before
    assert folder.rows("SELECT DISTINCT stale_because FROM judge_certificates") == [(None,)]
    assert folder.rows("SELECT version FROM tuned_judges") == [("1.1.0",)]
    assert folder.rows("SELECT count(*) FROM test_set_uses") == [(1,)]
    [(declared, tuned, paid)] = folder.rows(
        """SELECT first(dev_kappa->>'clarity' ORDER BY version),
                  last(dev_kappa->>'clarity' ORDER BY version), sum(cost_usd)
           FROM judge_versions WHERE version IN ('1.0.0', '1.1.0')"""
    )
    assert float(str(declared)) < float(str(tuned)) <= 1
    assert 0 < float(str(paid)) < 0.5


def test_examples_that_undo_the_error_are_found_without_a_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "data", steps="few_shot_examples", writer="")
    run(folder, monkeypatch, cures=("Examples with the ratings that people agree on",))

    [(sources,)] = folder.rows(
        "SELECT sources FROM judge_versions WHERE step = 'few_shot_examples'"
    )
    splits = {
        str(name): split
        for name, split in folder.rows("SELECT response_id, split FROM judge_splits")
    }
    assert {splits[response] for response in json.loads(str(sources))} == {"train"}
    assert ("improvement", "accepted") in folder.rows(
        "SELECT kind, verdict FROM tuned_judge_evaluation"
    )


def test_with_nothing_planted_nothing_is_certified_as_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(
        tmp_path / "data",
        steps="few_shot_examples, judge_guidelines, calibration",
    )
    run(folder, monkeypatch, cures=())

    improvements = folder.rows(
        "SELECT DISTINCT verdict FROM tuned_judge_evaluation WHERE kind = 'improvement'"
    )
    assert ("accepted",) not in improvements
