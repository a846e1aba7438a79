"""DuckDB's extensions, and the bucket of a lake with its credentials from the environment."""

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import duckdb

from eval_assets.store.store_errors import StoreError

_URL = re.compile(r"(s3|gs|az)://[\w.-]+(/[^?@]*)?")
_EXTENSIONS = {"s3": "httpfs", "gs": "httpfs", "az": "azure"}
_CREDENTIALS = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    "gs": ("GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY"),
    "az": ("AZURE_STORAGE_CONNECTION_STRING",),
}
"""Extension and variables that each kind of bucket takes."""

_ENDPOINTS = {"s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), "gs": ("STORAGE_EMULATOR_HOST",)}
"""Variables with another server than the vendor's own, the first that is set."""


def load_extension(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension from the package that brings it, never from the network."""
    package = find_spec(f"duckdb_extension_{name}")
    folder = Path(package.origin).parent if package and package.origin else Path()
    file = folder / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
    if not file.is_file():
        raise StoreError(
            f"EVAL_DATABASE names a lake, and DuckDB {duckdb.__version__} lacks its extension "
            f"{name}. Run: pip install 'eval-assets[scale]'"
        )
    connection.execute("LOAD '" + str(file).replace("'", "''") + "'")


def is_bucket(files: str) -> bool:
    """Return whether files lie in a bucket and not in a folder."""
    return "://" in files


def open_bucket(connection: duckdb.DuckDBPyConnection, files: str) -> None:
    """Let a DuckDB read and write a bucket.

    Args:
        connection: Any connection to it; the others may use the bucket too.
        files: URL of the bucket, or of a folder in it.

    Raises:
        StoreError: If no such buckets are supported, or credentials are missing.
    """
    url = _URL.fullmatch(files)
    if url is None:
        raise StoreError(
            f"EVAL_DATA_PATH begins with {files.partition(':')[0]}:// and names no bucket that is "
            "supported. Write s3://bucket/folder, gs:// or az://, and no credentials."
        )
    kind = url[1]
    missing = [name for name in _CREDENTIALS[kind] if not os.environ.get(name)]
    if missing:
        raise StoreError(
            f"EVAL_DATA_PATH is {files}, and {' and '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} not set. Set the credentials of the bucket."
        )
    load_extension(connection, _EXTENSIONS[kind])
    given = _azure_secret() if kind == "az" else _s3_secret(kind)
    options = ", ".join(f"{option} ${option}" for option in given)
    service = {"s3": "s3", "gs": "gcs", "az": "azure"}[kind]
    connection.execute(f"CREATE OR REPLACE SECRET bucket_{kind} (TYPE {service}, {options})", given)


def _azure_secret() -> Mapping[str, str]:
    [variable] = _CREDENTIALS["az"]
    return {"connection_string": os.environ[variable]}


def _s3_secret(kind: str) -> Mapping[str, str | bool]:
    """Return the options of a bucket that is spoken to as S3, which Google's are too."""
    key_id, secret = _CREDENTIALS[kind]
    given: dict[str, str | bool] = {"key_id": os.environ[key_id], "secret": os.environ[secret]}
    if kind == "s3":
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        given["region"] = region or "us-east-1"
        if token := os.environ.get("AWS_SESSION_TOKEN"):
            given["session_token"] = token
    endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS[kind])), None)
    if endpoint:
        # Servers other than the vendors' have no domain name for each bucket.
        server = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
        given |= {
            "endpoint": server.netloc + server.path.rstrip("/"),
            "use_ssl": server.scheme != "http",
            "url_style": "path",
        }
    return given
