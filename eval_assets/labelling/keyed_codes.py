"""Codes that stand for responses and models before raters, which only the study's key resolves."""

import hmac
import secrets
from functools import cached_property, lru_cache
from pathlib import Path

from eval_assets.config.labelling import SESSIONS
from eval_assets.labelling._durable import locked, replace_file

_KEY_FILE = ".key"

_LENGTH = 12
"""Digits of a code: no two of a million responses share one, in all likelihood."""


class KeyedCodes:
    """Codes of an evaluation folder, made with a key file in its folder of sessions.

    Nobody can compute the code of an id that they guess. Without the key file, the links of a
    study and the codes in its sheets are void.
    """

    def __init__(self, folder: Path | None) -> None:
        """Make nothing yet; the first code makes the key, which is not stored without a folder."""
        self._sessions = None if folder is None else folder / SESSIONS

    def of(self, *parts: str | None) -> str:
        """Return the code of some texts; its letter keeps spreadsheets from reading a number."""
        return f"r{self.secret(*parts)[:_LENGTH]}"

    def of_model(self, indicator_id: str | None, convo_id: str | None, model: str | None) -> str:
        """Return the code of a model, which differs in each conversation."""
        return f"m{self.secret('model', indicator_id, convo_id, model)[:_LENGTH]}"

    def secret(self, *parts: str | None) -> str:
        """Return the secret text of a purpose."""
        text = "\x1f".join(part or "" for part in parts)
        return hmac.digest(self._key, text.encode(), "sha256").hex()[:32]

    @property
    def is_used(self) -> bool:
        """Whether there is a key, and may be codes."""
        return self._sessions is not None and (self._sessions / _KEY_FILE).exists()

    @cached_property
    def _key(self) -> bytes:
        if self._sessions is None:
            return secrets.token_bytes(32)
        path = self._sessions / _KEY_FILE
        with locked(self._sessions):
            if not path.exists():
                replace_file(self._sessions / ".gitignore", f"{_KEY_FILE}\n".encode())
                replace_file(path, secrets.token_hex(32).encode(), mode=0o600)
            return path.read_bytes()


UNSTORED = KeyedCodes(None)
"""Codes that last as long as the process."""


@lru_cache(maxsize=8)
def keyed_codes(folder: Path) -> KeyedCodes:
    """Return the codes of an evaluation folder, whose key is read once in a process."""
    return KeyedCodes(folder)
