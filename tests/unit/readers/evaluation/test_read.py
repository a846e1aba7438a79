import pytest

from eval_assets.config.evaluation import Gate, default_gates
from eval_assets.config.judges import VENDORS, Judge
from eval_assets.config.labelling import Labelling
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.scale import BINARY, Scale
from tests.unit.readers.conftest import HEAD, Reported, Write


def test_what_the_file_declares_is_read(write: Write) -> None:
    folder = write(
        {
            "evaluation.yaml": """\
name: suite
rubric:
  - id: usefulness
    question: How useful is it?
    scale: {min: 0, max: 4}
    guidelines: |
      0 not at all
  - {id: safe, question: Is it safe, scale: binary, level: ordinal}
judges:
  - {id: gpt, provider: openai, model: gpt-6-luna}
  - {id: local, provider: openai, model: x, base_url: "http://127.0.0.1", api_key_env: KEY}
  - {id: old, provider: recorded, scores: scores.csv, model: gpt-3.5/cot, version: 1.0.1}
gates:
  human_alpha: {min: 0.8, severity: warn, level: interval}
  judge_alpha: {severity: warn}
labels: {on_error: reject_rows}
budget_usd: 5
""",
            "scores.csv": "x",
        }
    )

    evaluation = read_evaluation(folder)

    usefulness, safe = evaluation.rubric
    assert evaluation.name == "suite"
    assert usefulness.scale == Scale.from_steps(low=0, high=4)
    assert (usefulness.level, usefulness.guidelines) == ("ordinal", "0 not at all\n")
    assert (safe.scale, safe.level) == (BINARY, "ordinal")
    assert evaluation.judges == (
        Judge("gpt", "openai", model="gpt-6-luna"),
        Judge("local", "openai", model="x", base_url="http://127.0.0.1", api_key_env="KEY"),
        Judge(
            "old",
            "recorded",
            model="gpt-3.5/cot",
            scores=folder / "scores.csv",
            version="1.0.1",
        ),
    )
    assert evaluation.gates == {
        **default_gates(),
        "human_alpha": Gate(0.8, "warn", "interval"),
        "judge_alpha": Gate(0.667, "warn"),
    }
    assert (evaluation.labels.on_error, evaluation.budget_usd) == ("reject_rows", 5.0)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            "extra: 1",
            (
                "extra: there is no such key. Use one of name, rubric, responses, labels, "
                "judges, gates, budget_usd, budget_usd_per_month, currency, judge_prompt, staged, "
                "dual_judge, generators, prompts, prices, capabilities, tuning, labelling, "
                "schedule, alerts, judging, drift, executive_summary"
            ),
        ),
        ("judge: []", 'judge: there is no such key. Write "judges"'),
        ("budget_usd: -1", "budget_usd: -1 is too low. Use 0 or more"),
        ("budget_usd: five", 'budget_usd: "five" is not a number. Write a number such as 0.75'),
        (
            "gates: {human_ahh: {min: 0.7}}",
            'gates.human_ahh: there is no such key. Write "human_a_hh"',
        ),
        (
            "gates: {human_alpha: 0.7}",
            (
                "gates.human_alpha: 0.7 is not a mapping. "
                "Write keys, each with a value: min, severity, level, by"
            ),
        ),
        (
            "gates: {human_alpha: {minimum: 0.7}}",
            "gates.human_alpha.minimum: there is no such key. Use one of min, severity, level, by",
        ),
        (
            "gates: {human_alpha: {severity: fatal}}",
            (
                'gates.human_alpha.severity: "fatal" is not one of '
                "the choices. Use 'error' or 'warn'"
            ),
        ),
        (
            "gates: {human_a_hh: {min: -0.1}}",
            "gates.human_a_hh.min: -0.1 cannot be a minimum of this gate. Use a number from 0 to 1",
        ),
        (
            "gates: {human_alpha: {min: 75}}",
            "gates.human_alpha.min: 75 cannot be a minimum of this gate. Use a number from -1 to 1",
        ),
        (
            "gates: {human_a_hh: {level: ordinal}}",
            "gates.human_a_hh.level: A^HH has no level of measurement. Remove it",
        ),
        (
            "judges: [{id: a, provider: recorded}]",
            "judges[0].scores: a recorded judge needs this key. Name the file of its scores",
        ),
        (
            "judges: [{id: a, provider: openai}]",
            "judges[0].model: a judge of provider openai needs this key. Name the model to ask",
        ),
        (
            "judges: [{id: a, provider: gemini, model: x}]",
            (
                'judges[0].provider: "gemini" is not one of '
                f"the choices. Use {', '.join(map(repr, VENDORS))} or 'recorded'"
            ),
        ),
        (
            "judges: [{id: a, provider: openai, model: x, version: latest}]",
            (
                'judges[0].version: "latest" is not a version. '
                "Use a number of judge_versions such as 1.1.0, or current"
            ),
        ),
        (
            "judges: [{id: a, provider: recorded, scores: s.csv}]",
            "judges[0].scores: there is no file s.csv. Check the name, or add the file",
        ),
        (
            "judges: [{id: a, provider: openai, model: x, scores: responses.csv}]",
            "judges[0].scores: a judge of provider openai takes no such key. Remove it",
        ),
        (
            "judges: [{id: a, provider: recorded, scores: responses.csv, api_key_env: K}]",
            "judges[0].api_key_env: a recorded judge takes no such key. Remove it",
        ),
        (
            "judges: [{id: a, provider: openai, model: x, base_url: localhost}]",
            (
                "judges[0].base_url: the "
                "base URL does not start with http:// or https://. Write the whole URL"
            ),
        ),
        (
            "judges: [{id: 1, provider: openai, model: x}]",
            "judges[0].id: 1 is not text. Write text, in quotes if YAML sees something else",
        ),
        (
            "judges: [{id: a, provider: openai, model: x}, {id: a, provider: openai, model: y}]",
            'judges[1].id: the id "a" is repeated. Give each entry its own id',
        ),
        (
            "judges: [{id: a, provider: openai, model: x}, {id: b, provider: openai, model: x}]",
            (
                'judges[1]: "b" is the same judge as "a": model, settings and scores. '
                "Remove one of them, or change its model"
            ),
        ),
        ("judges: {id: a}", "judges: this is not a list. Write each entry after a dash"),
        ("labels: no.csv", "labels: there is no file no.csv. Check the name, or add the file"),
        (
            "labels: no/*.csv",
            "labels: no file matches no/*.csv. Check the pattern, or add the files",
        ),
        (
            "labels: [responses.csv, 3]",
            "labels[1]: this does not name a file. Write a path, a glob or a list of them",
        ),
        (
            "labels: {on_error: ignore}",
            "labels.on_error: \"ignore\" is not one of the choices. Use 'fail' or 'reject_rows'",
        ),
        ("responses: .", "responses: . is a folder. Write ./* for all files in it"),
        (
            "tuning: {split: {train: 0.5}}",
            (
                "tuning.split: train, dev and test add up to 1.1. "
                "Make it 1, for instance 0.4, 0.2 and 0.4"
            ),
        ),
        (
            "tuning: {steps: [jury]}",
            (
                "tuning.steps: a jury takes 2 to 8 judges, and there are 0. "
                "Remove the step, or change the judges"
            ),
        ),
        (
            "tuning: {steps: [calibration, calibration]}",
            "tuning.steps: a step is repeated. Name each step once",
        ),
        (
            "tuning: {steps: [judge_guidelines]}",
            "tuning.steps: judge_guidelines needs a writer. Name a live judge as its writer",
        ),
        (
            "tuning: {writer: gpt}",
            'tuning.writer: no live judge has the id "gpt". Declare a live judge',
        ),
        ("tuning: {margin: 0}", "tuning.margin: 0 is too low. Use a number above 0"),
        ("tuning: {margin: 2}", "tuning.margin: 2 is too high. Use a number below 1"),
        ("responses: []", None),
        ("name: again", "name: the key is repeated. Keep one of the two"),
    ],
)
def test_what_is_wrong_with_another_entry_is_reported(
    write: Write, reported: Reported, more: str, problem: str | None
) -> None:
    folder = write({"evaluation.yaml": f"{HEAD}{more}\n"})
    empty = (
        "evaluation.yaml:4:responses: there are no responses. "
        "Add responses.csv, or name the files under responses."
    )

    messages = reported(lambda: read_evaluation(folder))

    assert messages == [empty if problem is None else f"evaluation.yaml:4:{problem}."]


def test_everything_that_is_wrong_is_reported_at_once_by_line(
    write: Write, reported: Reported
) -> None:
    folder = write(
        {
            "evaluation.yaml": """\
nam: test
rubric:
  - id: helpfulness
    question: How helpful is it?
    scale: {min: 5, max: 1}
  - {id: helpfulness, question: Again, scale: binary}
judges:
  - {id: a, provider: openai, modell: x}
  - {id: b, provider: recorded, scores: no.csv}
gates:
  human_alpha: {min: 2}
"""
        }
    )

    assert [message.split(". ")[0] for message in reported(lambda: read_evaluation(folder))] == [
        "evaluation.yaml:1:name: the key is missing",
        "evaluation.yaml:1:nam: there is no such key",
        "evaluation.yaml:5:rubric[0].scale: min must lie below max, got min 5 and max 1",
        'evaluation.yaml:6:rubric[1].id: the id "helpfulness" is repeated',
        "evaluation.yaml:8:judges[0].modell: there is no such key",
        "evaluation.yaml:8:judges[0].model: a judge of provider openai needs this key",
        "evaluation.yaml:9:judges[1].scores: there is no file no.csv",
        "evaluation.yaml:11:gates.human_alpha.min: 2 cannot be a minimum of this gate",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "name: [a\nrubric: x",
            (
                "evaluation.yaml:2: the file is not YAML (expected ',' or ']', but got ':'). "
                "Check the indentation, and put quotes around text with : # [ ] { }."
            ),
        ),
        ("", "evaluation.yaml: the file is empty. Write at least the header, or remove the file."),
        (
            "# nothing\n",
            (
                "evaluation.yaml:1: nothing is not a mapping. Write keys, each with a value: name, "
                "rubric, responses, labels, judges, gates, budget_usd, budget_usd_per_month, "
                "currency, judge_prompt, staged, dual_judge, generators, prompts, prices, "
                "capabilities, tuning, labelling, schedule, alerts, judging, "
                "drift, executive_summary."
            ),
        ),
        (
            b"name: caf\xe9",
            (
                "evaluation.yaml:1: byte 10 of the file (0xe9) is not UTF-8. "
                'Save the file as UTF-8 (in Excel: "CSV UTF-8").'
            ),
        ),
    ],
)
def test_a_file_that_is_not_an_evaluation_is_refused(
    write: Write, reported: Reported, text: str | bytes, problem: str
) -> None:
    folder = write({"evaluation.yaml": text})

    assert reported(lambda: read_evaluation(folder)) == [problem]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (f"{HEAD}1: x\n", "evaluation.yaml:4:1"),
        (f"{HEAD}gates: {{1: {{min: 0}}}}\n", "evaluation.yaml:4:gates.1"),
        (f"{HEAD}gates: {{judge_alpha: null}}\n", "evaluation.yaml:4:gates.judge_alpha"),
        (f"{HEAD}judges: [null, 5]\n", "evaluation.yaml:4:judges[0]"),
        (f"{HEAD}? [a, b]\n: c\n", "evaluation.yaml:4"),
        ("name: 2026-02-30\nrubric: [5]\n", "evaluation.yaml:2:rubric[0]"),
        ("name: test\nrubric: []\nbudget_usd: yes\n", "evaluation.yaml:2:rubric"),
        ("name: !!python/object:os.system x\n", "evaluation.yaml:1"),
        ("name: \x07\n", "evaluation.yaml"),
        ("name: " + "[" * 1_000 + "\n", "evaluation.yaml"),
        ("name: " + "[" * 100_000 + "]" * 100_000 + "\n", "evaluation.yaml"),
        ("- a\n- b\n", "evaluation.yaml:1"),
    ],
)
def test_odd_yaml_is_refused_with_a_place(
    write: Write, reported: Reported, text: str, condition: str
) -> None:
    folder = write({"evaluation.yaml": text})

    assert reported(lambda: read_evaluation(folder))[0].startswith(f"{condition}: ")


def test_yaml_that_refers_to_itself_ends(write: Write, reported: Reported) -> None:
    folder = write({"evaluation.yaml": f"{HEAD}labels: &again [*again]\n"})

    assert reported(lambda: read_evaluation(folder)) == [
        (
            "evaluation.yaml:4: the file is not YAML (an alias repeats what it is part of, or far "
            "too much). Check the indentation, and put quotes around text with : # [ ] { }."
        )
    ]


def test_an_entry_with_an_unknown_key_is_checked_all_the_same(
    write: Write, reported: Reported
) -> None:
    declared = """\
judges:
  - id: a
    provider: recorded
    scores: no.csv
    modle: x
    batch: true
    replicates: 0
"""
    folder = write({"evaluation.yaml": HEAD + declared})

    assert [message.split(". ")[0] for message in reported(lambda: read_evaluation(folder))] == [
        "evaluation.yaml:7:judges[0].scores: there is no file no.csv",
        "evaluation.yaml:8:judges[0].modle: there is no such key",
        "evaluation.yaml:9:judges[0].batch: a recorded judge takes no such key",
        "evaluation.yaml:10:judges[0].replicates: 0 is too low",
    ]


def test_entries_after_one_that_cannot_be_read_keep_their_positions(
    write: Write, reported: Reported
) -> None:
    declared = """\
judges:
  - 5
  - {id: a, provider: openai, model: x}
  - {id: a, provider: openai, model: y, base_url: localhost}
generators:
  - {provider: openai, model: z}
  - {id: g, provider: openai, model: z, seeds: [1, 1]}
prompts: responses.csv
"""
    folder = write({"evaluation.yaml": HEAD + declared})

    assert [message.split(". ")[0] for message in reported(lambda: read_evaluation(folder))] == [
        "evaluation.yaml:5:judges[0]: 5 is not a mapping",
        "evaluation.yaml:7:judges[2].base_url: the base URL does not start with http:// or https://",
        'evaluation.yaml:7:judges[2].id: the id "a" is repeated',
        "evaluation.yaml:9:generators[0].id: the key is missing",
        "evaluation.yaml:10:generators[1].seeds: a seed is repeated",
    ]


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ("folder: /tmp", "folder"),
        ("labels: {files: responses.csv, folder: x}", "labels.folder"),
    ],
)
def test_what_only_the_reader_sets_is_not_a_key(
    write: Write, reported: Reported, more: str, key: str
) -> None:
    folder = write({"evaluation.yaml": f"{HEAD}{more}\n"})

    assert [message.split(". ")[0] for message in reported(lambda: read_evaluation(folder))] == [
        f"evaluation.yaml:4:{key}: there is no such key"
    ]


def test_a_section_whose_entries_are_commented_out_is_empty(write: Write) -> None:
    folder = write({"evaluation.yaml": f"{HEAD}judges:\n#  - {{id: a}}\nbudget_usd:\n"})

    evaluation = read_evaluation(folder)

    assert (evaluation.judges, evaluation.budget_usd) == ((), None)


def test_yes_and_no_and_dates_are_text(write: Write) -> None:
    rubric = "name: 2026-02-03\nrubric:\n  - {id: no, question: Is it off, scale: binary}\n"

    evaluation = read_evaluation(write({"evaluation.yaml": rubric}))

    assert (evaluation.name, evaluation.rubric[0].id) == ("2026-02-03", "no")


def test_how_people_label_is_declared_in_a_section(write: Write) -> None:
    section = (
        "{raters: [anna, ben], round: 2, show: [plugin], hide: [expected], adjudicators: [lea]}"
    )
    folder = write({"evaluation.yaml": f"{HEAD}labelling: {section}\n"})

    labelling = read_evaluation(folder).labelling

    assert labelling == Labelling(
        raters=("anna", "ben"),
        round=2,
        show=("plugin",),
        hide=("expected",),
        adjudicators=("lea",),
    )


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{rater: [a]}", "labelling.rater: "),
        ("{overlap: 1.5}", "labelling.overlap: "),
        ("{round: 0}", "labelling.round: "),
        ("{show: [x], hide: [x]}", "labelling.hide[0]: x is shown as well."),
        ("{hide: [response_text]}", "raters cannot rate what they do not see"),
        ("{raters: [anna, Anna]}", "Anna is repeated. Name each rater once."),
        ("{adjudicators: [lea, Lea]}", "Lea is repeated. Name each adjudicator once."),
    ],
)
def test_labelling_that_makes_no_sense_is_reported(
    write: Write, reported: Reported, section: str, message: str
) -> None:
    folder = write({"evaluation.yaml": f"{HEAD}labelling: {section}\n"})

    [problem] = reported(lambda: read_evaluation(folder))
    assert message in problem
