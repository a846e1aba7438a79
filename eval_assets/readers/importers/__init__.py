"""Importers, one module per tool."""

TOOLS = (
    "every-eval-ever",
    "opentelemetry",
    "label-studio",
    "argilla",
    "prodigy",
    "openai-evals",
    "inspect-ai",
    "promptfoo",
    "mlflow",
    "langsmith",
    "phoenix",
    "langfuse",
    "braintrust",
    "deepeval",
    "lm-eval",
    "potato",
    "chat",
    "hugging-face",
)
"""Tools in the order of recognition, the surest first; the module of `lm-eval` is `lm_eval`."""
