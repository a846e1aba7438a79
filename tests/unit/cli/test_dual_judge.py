"""`eval-assets dual-judge` refuses misuse before anything is asked."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from eval_assets.cli.dual_judge import dual_judge
from eval_assets.errors import leaves
from eval_assets.readers.documents import Document, document_query

GOOD = '[{"id": 1, "content": "Paris."}, {"id": 2, "content": "Bananas."}]'


def written(folder: Path, text: str) -> Path:
    path = folder / "docs.json"
    path.write_text(text, encoding="utf-8")
    return path


def refused(arguments: Sequence[str]) -> list[str]:
    """The lines that the command fails with; nothing is printed."""
    outcome = CliRunner().invoke(dual_judge, arguments)
    assert outcome.stdout == ""
    assert outcome.exception is not None
    return [*map(str, leaves(outcome.exception))]


def test_a_query_and_its_documents_are_read_in_order(tmp_path: Path) -> None:
    result = document_query(1, "capital of France", written(tmp_path, GOOD))

    assert (result.id, result.text) == (1, "capital of France")
    assert result.documents == (Document(1, "Paris."), Document(2, "Bananas."))


def test_everything_that_is_wrong_is_reported_at_once(tmp_path: Path) -> None:
    docs = written(
        tmp_path,
        """[{"id": 1, "content": "Paris."}, {"content": "No id."}, {"id": "3", "content": " "},
            {"id": true, "content": 4}, "text", {"id": 1}, {"id": 1, "content": "Again."}]""",
    )
    arguments = ["--query-id", "1", "--query", " ", "--docs", str(docs), "--data", str(tmp_path)]

    output = [line.removeprefix(f"{tmp_path}/") for line in refused(arguments)]

    assert [line.split(". ")[0] for line in output] == [
        "--query: the query is empty",
        "docs.json:2:id: the document has no id",
        "docs.json:3:id: the id is not an integer of 64 bits",
        "docs.json:3:content: the content is empty",
        "docs.json:4:id: the id is not an integer of 64 bits",
        "docs.json:4:content: the content is not text",
        "docs.json:5: this is not an object",
        "docs.json:6:content: the document has no content",
        "docs.json:7:id: 1 is also the id of document 1",
    ]


@pytest.mark.parametrize("query_id", ["abc", "0", "-1", "1.5", ""])
def test_a_query_id_that_is_not_a_number_from_one_on_is_misuse(
    tmp_path: Path, query_id: str
) -> None:
    docs = written(tmp_path, GOOD)
    arguments = ["--query-id", query_id, "--query", "q", "--docs", str(docs)]
    result = CliRunner().invoke(dual_judge, [*arguments, "--data", str(tmp_path)])

    assert result.exit_code == 2
    assert "--query-id" in result.output


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[]", "the list is empty"),
        ('{"id": 1, "content": "Paris."}', "the file is not a list"),
        ("[{", "the file is not usable JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("", "the file is empty"),
        (f'[{{"id": {2**63}, "content": "x"}}]', "the id is not an integer of 64 bits"),
    ],
)
def test_a_file_without_documents_is_refused(tmp_path: Path, text: str, part: str) -> None:
    docs = written(tmp_path, text)
    arguments = ["--query-id", "1", "--query", "q", "--docs", str(docs), "--data", str(tmp_path)]

    [line] = refused(arguments)
    assert part in line


def declare(folder: Path, *judges: str) -> None:
    lines = ["name: t", "rubric:", "  - {id: q, question: Good, scale: binary}", "judges:"]
    lines += [f"  - {{{judge}}}" for judge in judges]
    (folder / "evaluation.yaml").write_text("\n".join(lines) + "\n")
    (folder / "responses.csv").write_text("response_id,prompt_text,response_text\na,b,c\n")


def test_one_model_twice_is_refused_as_not_independent(tmp_path: Path) -> None:
    declare(
        tmp_path,
        "id: a, provider: openai, model: gpt-6-luna",
        "id: b, provider: openai, model: openai/GPT-6-luna, base_url: 'http://127.0.0.1:1'",
    )
    docs = written(tmp_path, GOOD)
    arguments = ["--query-id", "1", "--query", "q", "--docs", str(docs), "--data", str(tmp_path)]

    [line] = refused(arguments)
    assert "a and b are the same model, which is not independent" in line


def test_one_live_judge_is_not_a_pair(tmp_path: Path) -> None:
    declare(tmp_path, "id: a, provider: openai, model: gpt-6-luna")
    docs = written(tmp_path, GOOD)
    arguments = ["--query-id", "1", "--query", "q", "--docs", str(docs), "--data", str(tmp_path)]

    [line] = refused(arguments)
    assert "a is the only live judge" in line


def test_missing_keys_are_reported_by_name_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "your-key-here")
    docs = written(tmp_path, GOOD)
    data = tmp_path / "data"
    arguments = ["--query-id", "1", "--query", "q", "--docs", str(docs), "--data", str(data)]

    lines = refused(arguments)

    assert any("OPENAI_API_KEY, which is not set" in line for line in lines)
    assert any("ANTHROPIC_API_KEY, which is a placeholder" in line for line in lines)
    assert "your-key-here" not in "".join(lines)
    assert not data.exists()


def test_a_missing_option_is_misuse() -> None:
    assert CliRunner().invoke(dual_judge, ["--query-id", "1"]).exit_code == 2


def test_a_cap_without_a_price_is_one_message_not_one_inside_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-this-test")
    declare(
        tmp_path,
        "id: a, provider: openai, model: our-model",
        "id: b, provider: anthropic, model: claude-haiku-5-5",
    )
    with (tmp_path / "evaluation.yaml").open("a") as file:
        file.write("budget_usd: 1\n")
    docs = written(tmp_path, GOOD)

    [line] = refused(
        ["--query-id", "1", "--query", "q", "--docs", str(docs), "--data", str(tmp_path)]
    )

    assert line == (
        "evaluation.yaml:budget_usd: the price of our-model is not known, so no cap could be "
        "kept. Add it under prices, or remove the budget."
    )


def test_one_model_is_not_two_judges(tmp_path: Path) -> None:
    docs = ["--docs", str(written(tmp_path, GOOD)), "--data", str(tmp_path)]
    query = ["--query-id", "1", "--query", "capital of France"]
    outcome = CliRunner().invoke(dual_judge, [*query, *docs, *["--judge", "openai/gpt-4o"] * 2])

    assert outcome.exit_code == 2
    assert "both models are gpt-4o. Name two." in outcome.stderr
