"""Importers of other tools' exports, one function per tool."""

TOOLS = {
    "every-eval-ever": "evaluation_tools",
    "opentelemetry": "tracing_tools",
    **dict.fromkeys(("label-studio", "argilla", "prodigy"), "labelling_tools"),
    **dict.fromkeys(("openai-evals", "inspect-ai", "weval", "promptfoo"), "evaluation_tools"),
    **dict.fromkeys(("mlflow", "langsmith", "phoenix", "langfuse", "braintrust"), "tracing_tools"),
    **dict.fromkeys(("deepeval", "lm-eval"), "evaluation_tools"),
    "potato": "labelling_tools",
}
"""Module of each tool's importer, in the order of recognition, the surest first."""
