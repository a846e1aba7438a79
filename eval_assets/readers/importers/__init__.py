"""Importers of other tools' exports, one function per tool."""

TOOLS = {
    "every-eval-ever": "evaluation_tools",
    "opentelemetry": "tracing_tools",
    "label-studio": "labelling_tools",
    "argilla": "labelling_tools",
    "prodigy": "labelling_tools",
    "openai-evals": "evaluation_tools",
    "inspect-ai": "evaluation_tools",
    "weval": "evaluation_tools",
    "promptfoo": "evaluation_tools",
    "mlflow": "tracing_tools",
    "langsmith": "tracing_tools",
    "phoenix": "tracing_tools",
    "langfuse": "tracing_tools",
    "braintrust": "tracing_tools",
    "deepeval": "evaluation_tools",
    "lm-eval": "evaluation_tools",
    "potato": "labelling_tools",
}
"""Module of each tool's importer, in the order of recognition, the surest first."""
