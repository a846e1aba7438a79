"""`eval-assets serve` as a process of its own, on an evaluation that nobody labelled yet."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.conftest import clean_environment

DECLARED = """\
name: made-up
rubric:
  - id: helpful
    question: How helpful is the response?
    scale: likert5
    guidelines: |
      5  The user can act on it at once.
      1  Nothing that can be used.
  - {id: correct, question: Is it correct?, scale: binary}
labelling: {raters: [anna, ben], show: [topic, captures]}
"""
ATTACK = "<img src=x onerror='window.hit=1'></script><script>window.hit=2</script>"


class Serving:
    """A server on a free port, which keeps its port when it is started again.

    Args:
        programs: The folder of the program.
        folder: The evaluation folder.
        options: What to serve.
    """

    def __init__(self, programs: Path, folder: Path, *options: str) -> None:
        self._program = programs / "eval-assets"
        self.folder = folder
        self._options = options
        self.port = 0
        self.links: dict[str, str] = {}
        self.start()

    def start(self) -> None:
        """Start the server and wait until it listens."""
        command = [str(self._program), "serve", *self._options, "--port", str(self.port)]
        self._process = subprocess.Popen(
            command,
            env=clean_environment() | {"EVAL_DATA": str(self.folder)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("Serving"):
                break
            name, link = line.split()
            self.links[name] = link
        assert self.links, "the server did not start"
        self.port = int(next(iter(self.links.values())).split(":")[2].split("/")[0])

    def kill(self) -> None:
        """End the server as `kill -9` does, and wait until its port is free."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.read()
        self._process.stdout.close()


def write_evaluation(folder: Path, texts: Sequence[str], *, declared: str = DECLARED) -> None:
    """Write an evaluation with these responses."""
    folder.mkdir(parents=True)
    (folder / "evaluation.yaml").write_text(declared)
    rows = [
        f'a{k},Prompt {k},"{text}",m,{"tax" if k else "law"},"first line, of captures no {k}'
        ' which is long enough to have a section of its own"'
        for k, text in enumerate(texts)
    ]
    header = "response_id,prompt_text,response_text,model_name,topic,captures"
    (folder / "responses.csv").write_text("\n".join([header, *rows]) + "\n")
