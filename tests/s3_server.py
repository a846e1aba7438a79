"""An S3 server of our own, on a free port of loopback, for tests."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

_STARTING_SECONDS = 60


@contextmanager
def running_s3(folder: Path) -> Iterator[str]:
    """Start a server that keeps everything in memory, yield its URL, and stop it in the end.

    Args:
        folder: Where its log is.
    """
    log = folder / "s3.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", "0"],
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + _STARTING_SECONDS
        while not (started := re.search(r"Running on (http://[\d.:]+)", log.read_text())):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield started[1]
    finally:
        server.kill()
        server.wait()


def make_bucket(url: str, name: str) -> None:
    """Make an empty bucket on a server."""
    urlopen(Request(f"{url}/{name}", method="PUT")).close()  # noqa: S310 - our own server
