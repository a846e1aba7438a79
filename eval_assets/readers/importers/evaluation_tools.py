"""Results of tools that evaluate models: inspect_ai, promptfoo, OpenAI Evals and the like."""

from collections.abc import Iterable, Iterator

from eval_assets.config.rubric import RubricQuestion
from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.readers.formats.table import plain
from eval_assets.readers.importers.export_content import (
    Export,
    Record,
    at,
    importer,
    object_at,
    records_at,
    text_of,
)
from eval_assets.readers.names import Who, who
from eval_assets.scale import Scale


@importer(
    "every-eval-ever",
    lambda record: (
        record.keys() >= {"evaluation_results", "model_info"}
        or record.keys() >= {"sample_id", "interaction_type"}
    ),
)
def read_every_eval_ever(records: Iterable[Record], export: Export) -> None:
    """Add the lines, each as a score of a judge; logs describe the questions.

    Every Eval Ever: logs of evaluations and their lines; each score is a judge's.
    https://github.com/evaleval/every_eval_ever
    """
    records = list(records)
    results = [r for record in records for r in records_at(record, "evaluation_results")]
    for result in results:
        name = str(result.get("evaluation_name"))
        text = at(result, "metric_config.evaluation_description")
        export.questions.setdefault(name, text_of(text) or name)
    lines = [record for record in records if "evaluation_results" not in record]
    if not lines:
        export.notes["logs hold results, but not the lines behind them"] += 1
    several_systems = len({str(line.get("model_id")) for line in lines}) > 1
    for line in lines:
        sample, model = str(line.get("sample_id")), str(line.get("model_id") or "")
        messages = records_at(line, "messages")
        response_id = export.add_response(
            # A sample is the question that all systems answered.
            f"{model}/{sample}" if several_systems else sample,
            prompt=at(line, "input.raw"),
            response=messages[-1] if messages else at(line, "output.raw"),
            model=model.removeprefix("unknown/"),
        )
        name, value = str(line.get("evaluation_name")), at(line, "evaluation.score")
        attributions = records_at(line, "answer_attribution")
        judge = attributions[0].get("extraction_method") if attributions else "score"
        export.add_score(response_id, name, judge, value)


_HUMAN = ("label", "human_label", "human_rating", "rating", "ground_truth")


@importer(
    "openai-evals",
    lambda record: (
        (isinstance(record.get("item"), dict) and record.keys() <= {"item", "sample"})
        or record.get("object") == "eval.run.output_item"
        or "datasource_item" in record
    ),
)
def read_openai_evals(records: Iterable[Record], export: Export) -> None:
    """Add the output items, each grader's score, and a human label of the data source.

    OpenAI Evals: output items of a run, as the API lists them; each grader is a judge.
    https://platform.openai.com/docs/api-reference/evals/getRunOutputItems
    """
    for position, record in enumerate(records, start=1):
        item = object_at(record, "datasource_item") or record
        item = object_at(item, "item") or item
        sample = object_at(record, "sample")
        response_id = export.add_response(
            record.get("id") or item.get("id") or position,
            prompt=sample.get("input") or at(item, "input", "prompt", "question", "query"),
            response=sample.get("output") or at(item, "output", "response", "completion"),
            model=sample.get("model"),
            group_id=record.get("datasource_item_id"),
        )
        for result in records_at(record, "results"):
            judge = at(result, "sample.model", "type") or "grader"
            score = at(result, "score", "passed")
            reply = at(result, "sample.outputs", "sample.output")
            export.add_score(response_id, str(result.get("name")), judge, score, reply=reply)
        rater = at(item, "rater_id", "annotator") or "dataset"
        for name in _HUMAN:
            if at(item, name) is not None:
                export.add_rating(response_id, name, rater, at(item, name))


_LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
"""Correct, partially correct, incorrect and no answer, as inspect_ai counts them."""

_UNCHANGED = "UNCHANGED"
_OWN_COLUMNS = {"response_id", "prompt", "response", "model", *RESPONSE_COLUMNS}


@importer("inspect-ai", lambda record: isinstance(record.get("eval"), dict) and "samples" in record)
def read_inspect_ai(records: Iterable[Record], export: Export) -> None:
    """Add the samples with a score for each scorer.

    Logs of inspect_ai, .eval or .json: each scorer is a judge, edited scores are human.
    https://inspect.aisi.org.uk/eval-logs.html
    """
    for log in records:
        run, task = at(log, "eval.run_id") or "", at(log, "eval.task") or ""
        for sample in records_at(log, "samples"):
            choices = records_at(sample, "output.choices")
            if not choices and sample.get("error"):
                export.notes["samples failed before there was a response"] += 1
                continue
            metadata = object_at(sample, "metadata")
            response_id = export.add_response(
                f"{run}/{sample.get('id')}/{sample.get('epoch', 1)}",
                prompt=sample.get("input"),
                response=at(choices[0], "message.content") if choices else "",
                model=at(log, "eval.model"),
                group_id=f"{task}/{sample.get('id')}",
                seed=sample.get("epoch"),
                target=sample.get("target"),
                **{name: metadata[name] for name in metadata if plain(name) not in _OWN_COLUMNS},
            )
            scores = object_at(sample, "scores")
            for scorer in scores:
                _add_scores(export, response_id, scorer, object_at(scores, scorer))


def _add_scores(export: Export, response_id: str, scorer: str, score: Record) -> None:
    """Add the original score of a scorer, and its edits by people."""
    original, *edits = records_at(score, "history") or [score]
    for name, value in _values(scorer, original.get("value")):
        reply = original.get("explanation") or score.get("explanation")
        export.add_score(response_id, name, scorer, value, reply=reply)
    for edit in edits:
        author = at(edit, "provenance.author") or "editor"
        if edit.get("value") != _UNCHANGED:
            for name, value in _values(scorer, edit.get("value")):
                remark = at(edit, "explanation", "provenance.reason")
                export.add_rating(response_id, name, author, value, remark=remark)


def _values(scorer: str, score: object) -> Iterator[tuple[str, object]]:
    for name, value in score.items() if isinstance(score, dict) else [(scorer, score)]:
        yield name, _LETTERS.get(value, value) if isinstance(value, str) else value


_MANUAL = "human"


@importer(
    "promptfoo",
    lambda record: isinstance(at(record, "results.results"), list) or "gradingResult" in record,
)
def read_promptfoo(records: Iterable[Record], export: Export) -> None:
    """Add each result with the scores of its assertions.

    promptfoo: results JSON of `promptfoo eval --output`; assertions are judges,
    manual grades human.
    https://www.promptfoo.dev/docs/configuration/outputs/
    """
    for record in records:
        for result in records_at(record, "results.results") or [record]:
            model = at(result, "provider.label", "provider.id", "provider")
            index = f"{result.get('promptIdx', 0)}-{result.get('testIdx', 0)}-{model}"
            response_id = export.add_response(
                result.get("id") or index,
                prompt=at(result, "prompt.raw", "prompt"),
                response=at(result, "response.output"),
                model=model,
                group_id=result.get("testIdx"),
            )
            for component in records_at(result, "gradingResult.componentResults"):
                assertion = object_at(component, "assertion")
                kind = str(assertion.get("type") or "assertion")
                name = str(assertion.get("metric") or assertion.get("value") or kind)
                if kind == _MANUAL:
                    export.add_rating(response_id, "pass", _MANUAL, component.get("pass"))
                else:
                    judge = at(assertion, "provider.id", "provider.label", "provider") or kind
                    reply = component.get("reason")
                    export.add_score(response_id, name, judge, component.get("score"), reply=reply)


@importer(
    "deepeval",
    lambda record: (
        at(record.get("testRunData") or record, "testCases") is not None or "metricsData" in record
    ),
)
def read_deepeval(records: Iterable[Record], export: Export) -> None:
    """Add the test cases with the score of each metric.

    DeepEval: a test run as it is stored in .deepeval/; each metric is a judge.
    https://deepeval.com/docs/evaluation-introduction
    """
    for record in records:
        run = record.get("testRunData") or record
        cases = [*records_at(run, "testCases"), *records_at(run, "conversationalTestCases")]
        for position, case in enumerate(cases or [record]):
            turns = records_at(case, "turns")
            response_id = export.add_response(
                f"{case.get('name') or 'test_case'}#{at(case, 'order') or position}",
                prompt=at(case, "input", "scenario") or turns[:-1],
                response=at(case, "actual_output") or turns[-1:],
                model=at(run, "hyperparameters.model"),
            )
            metadata = object_at(case, "additional_metadata")
            metadata = metadata or object_at(case, "additionalMetadata")
            for name, value in metadata.items():
                if who(name) is Who.HUMAN:
                    export.add_rating(response_id, name, name, value)
            for metric in records_at(case, "metrics_data"):
                name = str(metric.get("name"))
                judge = at(metric, "evaluation_model") or name
                reply = at(metric, "reason", "error")
                export.add_score(response_id, name, judge, metric.get("score"), reply=reply)


@importer(
    "lm-eval",
    lambda record: "doc_id" in record and ("resps" in record or "filtered_resps" in record),
)
def read_lm_eval(records: Iterable[Record], export: Export) -> None:
    """Add the samples with the value of each metric; each filter is a separate response.

    lm-evaluation-harness: samples written by `--log_samples`; each metric is a judge.
    https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md
    """
    for record in records:
        arguments = record.get("arguments")
        prompt = at(arguments, "gen_args_0.arg_0")
        if prompt is None and isinstance(arguments, list) and arguments:
            prompt = arguments[0][0] if isinstance(arguments[0], list) else arguments[0]
        response = record.get("filtered_resps") or record.get("resps")
        while isinstance(response, list) and len(response) == 1:
            response = response[0]
        response_id = export.add_response(
            f"{record.get('doc_hash') or record.get('doc_id')}/{record.get('filter') or 'none'}",
            prompt=prompt or record.get("doc"),
            response=response,
            group_id=record.get("doc_id"),
        )
        metrics = record.get("metrics")
        for metric in map(str, metrics if isinstance(metrics, list) else []):
            export.add_score(response_id, metric, f"lm-eval {metric}", record.get(metric))


@importer("weval", lambda record: at(record, "evaluationResults.llmCoverageScores") is not None)
def read_weval(records: Iterable[Record], export: Export) -> None:
    """Add the score of each judge for each criterion of a prompt and model.

    Weval: result files of a run; each judge model is a judge, and nobody's ratings are human.
    https://github.com/weval-org/app
    """
    for record in records:
        contexts = record.get("promptContexts") or {}
        answers = record.get("allFinalAssistantResponses") or {}
        run = {"config": record.get("configId"), "run": record.get("runLabel")}
        scores = object_at(object_at(record, "evaluationResults"), "llmCoverageScores")
        for prompt in scores:
            by_model = object_at(scores, prompt)
            for model in by_model:
                result = object_at(by_model, model)
                response_id = export.add_response(
                    f"{prompt}/{model}",
                    prompt=at(contexts, prompt),
                    response=at(at(answers, prompt), model),
                    model=model,
                    group_id=prompt,
                    **run,
                )
                export.notes["means by response follow from the scores"] += 1
                for name in ("keyPointsCount", "avgCoverageExtent", "sampleCount"):
                    result.get(name)
                for point in records_at(result, "pointAssessments"):
                    _add_judgements(export, response_id, point)


def _add_judgements(export: Export, response_id: str, point: Record) -> None:
    """Add the scores of a criterion; one that code decides has no judge."""
    name = str(point.get("keyPointText"))
    for field in ("coverageExtent", "multiplier", "isInverted"):  # the mean, and how it counts
        point.get(field)
    judgements = records_at(point, "individualJudgements")
    if not judgements:
        export.notes["criteria were decided by code, or have no judge"] += 1
        return
    export.declare(RubricQuestion(name, name, Scale(low=0, high=1), "interval"))
    for judgement in judgements:
        judge, score = judgement.get("judgeModelId"), judgement.get("coverageExtent")
        export.add_score(response_id, name, judge, score, reply=judgement.get("reflection"))
