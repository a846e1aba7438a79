"""Small exports in each tool's own form, written for the tests: two answers, two raters."""

import json
from typing import Any

Json = Any

LABEL_STUDIO: Json = [
    {
        "id": task,
        "project": 1,
        "data": {"prompt": "Why?", "response": text, "model": model},
        "annotations": [
            {
                "id": 10 * task + rater,
                "completed_by": {"id": rater, "email": f"r{rater}@example.org"},
                "was_cancelled": False,
                "created_at": "2026-11-21T10:00:00.000000Z",
                "result": [
                    {
                        "from_name": "quality",
                        "to_name": "text",
                        "type": "rating",
                        "value": {"rating": ratings[rater - 1]},
                    },
                    {
                        "from_name": "correct",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": ["yes"]},
                    },
                    {"from_name": "why", "type": "textarea", "value": {"text": ["Because"]}},
                ],
            }
            for rater in (1, 2)
        ]
        + [{"id": 99, "completed_by": 3, "was_cancelled": True, "result": []}],
        "predictions": [
            {
                "model_version": "judge-1",
                "result": [
                    {"from_name": "quality", "type": "rating", "value": {"rating": ratings[0]}}
                ],
            }
        ],
    }
    for task, text, model, ratings in ((1, "Because.", "m1", (4, 5)), (2, "Dunno.", "m2", (1, 2)))
]

LABEL_STUDIO_MIN: Json = [
    {
        "id": task,
        "annotation_id": 10 * task + rater,
        "annotator": rater,
        "prompt": "Why?",
        "response": text,
        "quality": quality,
        "created_at": "2026-11-21T10:00:00Z",
        "updated_at": "2026-11-21T10:00:00Z",
        "lead_time": 3.2,
    }
    for task, text, rater, quality in (
        (1, "Because.", 1, 4),
        (1, "Because.", 2, 5),
        (2, "Dunno.", 1, 1),
        (2, "Dunno.", 2, 2),
    )
]

ARGILLA: Json = [
    {
        "id": name,
        "fields": {"prompt": "Why?", "response": text},
        "metadata": {"model": "m1"},
        "suggestions": {"quality": {"value": 4, "score": None, "agent": "judge-1"}},
        "responses": {
            "quality": [{"value": 4, "user_id": "u1"}, {"value": second, "user_id": "u2"}]
        },
        "vectors": {},
        "status": "completed",
        "_server_id": f"s-{name}",
    }
    for name, text, second in (("a", "Because.", 5), ("b", "Dunno.", 3))
]

ARGILLA_FLAT: Json = [
    {
        "id": name,
        "status": "completed",
        "_server_id": f"s-{name}",
        "prompt": "Why?",
        "response": text,
        "quality.responses": [4, second, 1],
        "quality.responses.users": ["u1", "u2", "u3"],
        "quality.responses.status": ["submitted", "submitted", "discarded"],
        "quality.suggestion": 4,
        "quality.suggestion.agent": "judge-1",
        "quality.suggestion.score": None,
    }
    for name, text, second in (("a", "Because.", 5), ("b", "Dunno.", 3))
]

PRODIGY: Json = [
    {
        "text": text,
        "_input_hash": number,
        "_task_hash": -number,
        "options": [{"id": "1", "text": "bad"}, {"id": "5", "text": "good"}],
        "accept": [chosen] if chosen else [],
        "answer": "accept" if chosen else "ignore",
        "_view_id": "choice",
        "_annotator_id": f"db-{rater}",
        "_session_id": f"db-{rater}",
        "_timestamp": 1_700_000_000,
    }
    for text, number, rater, chosen in (
        ("Because.", 11, "anna", "5"),
        ("Because.", 11, "ben", "5"),
        ("Dunno.", 12, "anna", "1"),
        ("Dunno.", 12, "ben", None),
    )
]

OPENAI_EVALS: Json = {
    "object": "list",
    "data": [
        {
            "object": "eval.run.output_item",
            "id": f"outputitem_{number}",
            "run_id": "evalrun_1",
            "eval_id": "eval_1",
            "created_at": 1_700_000_000,
            "status": "pass",
            "datasource_item_id": number,
            "datasource_item": {"item": {"input": "Why?", "label": label}},
            "results": [
                {
                    "name": "Helpful",
                    "type": "score_model",
                    "score": score,
                    "passed": True,
                    "sample": {"model": "judge-1", "output": [{"content": "fine"}]},
                }
            ],
            "sample": {
                "input": [{"role": "user", "content": "Why?"}],
                "output": [{"role": "assistant", "content": text}],
                "model": "m1",
            },
        }
        for number, text, score, label in ((0, "Because.", 0.9, True), (1, "Dunno.", 0.1, False))
    ],
    "has_more": False,
}

INSPECT: Json = {
    "version": 2,
    "status": "success",
    "eval": {"run_id": "run1", "task": "quiz", "model": "openai/m1"},
    "samples": [
        {
            "id": name,
            "epoch": 1,
            "input": "Why?",
            "target": "Because.",
            "output": {"choices": [{"message": {"role": "assistant", "content": text}}]},
            "scores": {
                "model_graded": {
                    "value": value,
                    "answer": text,
                    "explanation": "fine",
                    "history": [
                        {"value": value, "provenance": None},
                        {"value": "I", "provenance": {"author": "anna", "reason": "no"}},
                    ],
                },
                "rubric": {"value": {"clarity": 4, "tone": 3}},
            },
        }
        for name, text, value in (("a", "Because.", "C"), ("b", "Dunno.", "P"))
    ],
}

PROMPTFOO: Json = {
    "evalId": "eval-1",
    "results": {
        "version": 3,
        "timestamp": "2026-11-21T10:00:00Z",
        "prompts": [],
        "results": [
            {
                "id": f"r{number}",
                "promptIdx": 0,
                "testIdx": number,
                "provider": {"id": "openai:m1", "label": ""},
                "prompt": {"raw": "Why?", "label": "p"},
                "vars": {},
                "response": {"output": text},
                "success": True,
                "score": 1,
                "gradingResult": {
                    "pass": True,
                    "score": 1,
                    "componentResults": [
                        {
                            "pass": True,
                            "score": score,
                            "reason": "fine",
                            "assertion": {
                                "type": "llm-rubric",
                                "value": "is helpful",
                                "metric": "helpful",
                                "provider": "openai:judge-1",
                            },
                        },
                        {
                            "pass": score > 0,
                            "score": score,
                            "reason": "Manual result",
                            "assertion": {"type": "human"},
                        },
                    ],
                },
            }
            for number, text, score in ((0, "Because.", 1), (1, "Dunno.", 0))
        ],
    },
}

MLFLOW: Json = [
    {
        "info": {
            "trace_id": f"tr-{number}",
            "request_preview": "Why?",
            "response_preview": text,
            "state": "OK",
            "tags": {},
            "assessments": [
                {
                    "assessment_name": "relevant",
                    "source": {"source_type": kind, "source_id": author},
                    "feedback": {"value": value},
                    "rationale": "fine",
                    "create_time": "2026-11-21T10:00:00Z",
                }
                for kind, author, value in (
                    ("HUMAN", "anna", True),
                    ("HUMAN", "ben", number == 0),
                    ("LLM_JUDGE", "judge-1", True),
                )
            ]
            + [
                {
                    "assessment_name": "expected",
                    "source": {"source_type": "HUMAN", "source_id": "anna"},
                    "expectation": {"value": "x"},
                }
            ],
        },
        "data": {"spans": []},
    }
    for number, text in ((0, "Because."), (1, "Dunno."))
]

LANGFUSE: Json = [
    {
        "id": f"t{number}",
        "name": "chat",
        "htmlPath": "/trace",
        "sessionId": "s1",
        "input": {"messages": [{"role": "user", "content": "Why?"}]},
        "output": {"content": text},
        "scores": [
            {
                "id": f"{number}-{author}",
                "name": "helpful",
                "dataType": "NUMERIC",
                "value": value,
                "source": source,
                "authorUserId": author,
                "comment": "fine",
                "timestamp": "2026-11-21T10:00:00.000Z",
            }
            for source, author, value in (
                ("ANNOTATION", "anna", 4),
                ("ANNOTATION", "ben", 5 - number),
                ("EVAL", None, 4),
            )
        ],
    }
    for number, text in ((0, "Because."), (1, "Dunno."))
]

LANGSMITH: Json = [
    {
        "id": f"run-{number}",
        "name": "chain",
        "run_type": "chain",
        "inputs": {"question": "Why?"},
        "outputs": {"output": text},
        "extra": {"metadata": {"ls_model_name": "m1"}},
        "feedback_stats": {},
        "feedback": [
            {
                "key": "correct",
                "score": score,
                "value": None,
                "comment": "fine",
                "feedback_source": {"type": kind, "user_id": author},
                "created_at": "2026-11-21T10:00:00Z",
            }
            for kind, author, score in (
                ("app", "anna", 1),
                ("app", "ben", number),
                ("model", None, 1),
            )
        ],
    }
    for number, text in ((0, "Because."), (1, "Dunno."))
]

PHOENIX: Json = [
    *(
        {
            "name": "llm",
            "context": {"span_id": f"sp{number}", "trace_id": "t"},
            "attributes": {
                "input": {"value": "Why?"},
                "output.value": text,
                "llm.model_name": "m1",
            },
        }
        for number, text in ((0, "Because."), (1, "Dunno."))
    ),
    *(
        {
            "id": f"{number}-{author}",
            "span_id": f"sp{number}",
            "name": "correctness",
            "annotator_kind": kind,
            "result": {"label": "correct", "score": score, "explanation": "fine"},
            "identifier": author,
            "created_at": "2026-11-21T10:00:00Z",
        }
        for number in (0, 1)
        for kind, author, score in (("HUMAN", "anna", 1), ("HUMAN", "ben", number), ("LLM", "j", 1))
    ),
]

BRAINTRUST: Json = [
    {
        "id": f"row{number}",
        "input": "Why?",
        "output": text,
        "expected": "Because.",
        "scores": {"Factuality": score, "Unused": None},
        "metadata": {"model": "m1"},
        "span_attributes": {"name": "eval", "type": "eval"},
        "is_root": True,
    }
    for number, text, score in ((0, "Because.", 1), (1, "Dunno.", 0.6))
]

DEEPEVAL: Json = {
    "testRunData": {
        "testFile": "test_chat.py",
        "testCases": [
            {
                "name": "test_case",
                "input": "Why?",
                "actualOutput": text,
                "order": number,
                "success": True,
                "metricsData": [
                    {
                        "name": "Answer Relevancy",
                        "threshold": 0.5,
                        "success": True,
                        "score": score,
                        "reason": "fine",
                        "evaluationModel": "judge-1",
                    }
                ],
            }
            for number, text, score in ((0, "Because.", 1.0), (1, "Dunno.", 0.25))
        ],
        "conversationalTestCases": [],
    }
}

LM_EVAL: Json = [
    {
        "doc_id": number,
        "doc": {"question": "Why?"},
        "target": "Because.",
        "arguments": {"gen_args_0": {"arg_0": "Q: Why?", "arg_1": {}}},
        "resps": [[text]],
        "filtered_resps": [text],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": f"h{number}",
        "exact_match": score,
    }
    for number, text, score in ((0, "Because.", 1.0), (1, "Dunno.", 0.0))
]

POTATO: Json = [
    {
        "instance_id": name,
        "user_id": rater,
        "labels": {"tone": {tone: True}, "quality": {f"scale_{quality}": str(quality)}},
        "spans": {},
        "links": {},
    }
    for name, rater, tone, quality in (
        ("a", "anna", "kind", 4),
        ("a", "ben", "kind", 5),
        ("b", "anna", "rude", 1),
        ("b", "ben", "kind", 2),
    )
]

EVERY_EVAL_EVER: Json = [
    {
        "schema_version": "0.3.0",
        "evaluation_id": "trial/acme/m1/1767225600",
        "model_id": "acme/m1",
        "evaluation_name": "quality",
        "sample_id": f"q{place}",
        "interaction_type": "single_turn",
        "input": {"raw": "Why?", "reference": []},
        "output": {"raw": [text]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": text,
                "extraction_method": "llm_judge",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": place, "is_correct": bool(place)},
    }
    for place, text in enumerate(["Because.", "Dunno."])
]

OPENTELEMETRY: Json = [
    {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {
                        "scope": {"name": "evaluator"},
                        "logRecords": [
                            {
                                "eventName": "gen_ai.evaluation.result",
                                "attributes": [
                                    {
                                        "key": "gen_ai.evaluation.name",
                                        "value": {"stringValue": "Relevance"},
                                    },
                                    {
                                        "key": "gen_ai.evaluation.score.value",
                                        "value": {"doubleValue": score},
                                    },
                                    {
                                        "key": "gen_ai.response.id",
                                        "value": {"stringValue": f"chatcmpl-{place}"},
                                    },
                                ],
                            }
                            for place, score in enumerate([0.25, 1.0])
                        ],
                    }
                ]
            }
        ]
    }
]

WEVAL: Json = {
    "configId": "tone",
    "runLabel": "main",
    "promptIds": ["p1"],
    "promptContexts": {"p1": [{"role": "user", "content": "Why?"}]},
    "allFinalAssistantResponses": {"p1": {"m1": "Because.", "m2": "Dunno."}},
    "evaluationResults": {
        "llmCoverageScores": {
            "p1": {
                model: {
                    "keyPointsCount": 2,
                    "avgCoverageExtent": 0.5,
                    "pointAssessments": [
                        {
                            "keyPointText": "Gives a reason, with evidence",
                            "coverageExtent": 0.5,
                            "individualJudgements": [
                                {"judgeModelId": j, "coverageExtent": score, "reflection": "since"}
                                for j, score in (("openai/gpt-4.1", 0.25), ("x/judge", 0.75))
                            ],
                        },
                        {"keyPointText": "contains('x')", "coverageExtent": 1.0},
                    ],
                }
                for model in ("m1", "m2")
            }
        }
    },
}

EXPORTS: dict[str, tuple[str, Json]] = {
    "every-eval-ever": ("jsonl", EVERY_EVAL_EVER),
    "opentelemetry": ("jsonl", OPENTELEMETRY),
    "label-studio": ("json", LABEL_STUDIO),
    "label-studio-min": ("json", LABEL_STUDIO_MIN),
    "argilla": ("json", ARGILLA),
    "argilla-flat": ("jsonl", ARGILLA_FLAT),
    "prodigy": ("jsonl", PRODIGY),
    "openai-evals": ("json", OPENAI_EVALS),
    "inspect-ai": ("json", INSPECT),
    "promptfoo": ("json", PROMPTFOO),
    "weval": ("json", WEVAL),
    "mlflow": ("json", MLFLOW),
    "langfuse": ("json", LANGFUSE),
    "langsmith": ("jsonl", LANGSMITH),
    "phoenix": ("jsonl", PHOENIX),
    "braintrust": ("json", BRAINTRUST),
    "deepeval": ("json", DEEPEVAL),
    "lm-eval": ("jsonl", LM_EVAL),
    "potato": ("jsonl", POTATO),
}


def written(name: str) -> str:
    """Return the export as its file has it."""
    kind, content = EXPORTS[name]
    if kind == "json":
        return json.dumps(content)
    return "".join(f"{json.dumps(record)}\n" for record in content)
