"""Masking of vendors' texts for storage and display, without keys and control characters."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Mapping
from functools import lru_cache
from urllib.parse import quote

from eval_assets.wording import printable, storable

KEY_LIKE = re.compile(
    r"""(?x)\b(?:
        (?:sk|pk|rk|gsk|xai|pplx|csk|nvapi|fw|tgp_v1|r8|hf|sess|co|vck)[-_][A-Za-z0-9_\-]{16,}
        | AIza[A-Za-z0-9_\-]{30,}                           # Google
        | (?:AKIA|ASIA)[A-Z0-9]{16}                         # AWS
        | (?:ghp|gho|ghs|ghu|github_pat)_[A-Za-z0-9_]{20,}  # GitHub
        | eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]+   # a JSON web token
    )"""
)
"""The forms of keys issued by vendors of models and clouds."""

_NAMED_KEY = re.compile(
    r"(?i)\b(bearer|api[-_ ]?key[\"']?\s*[:=])(\s*[\"']?)[A-Za-z0-9._~+/\-]{12,}=*"
)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_KEY = 8
"""Shorter keys are not searched for, because they occur in any text."""
_UNBROKEN = 4
"""Number of characters of a split key that are searched for first, which is faster than the
pattern."""
_BETWEEN = r"""(?:\\[nrt]|[\s"'`+,;|&\\]|"\s*,\s*"\w{1,30}"\s*:\s*"){0,20}?"""
"""Between parts of a key: ends of lines and texts, as they are and escaped, and names in JSON."""


def masked(text: str, keys: Collection[str]) -> str:
    """Return the text with all keys masked, and anything that looks like one."""
    text = without_keys(text, keys)
    return _NAMED_KEY.sub(r"\1\2[key]", KEY_LIKE.sub("[key]", text))


def without_keys(text: str, keys: Collection[str]) -> str:
    """Return the text with all keys masked, which a server may echo, also in another form."""
    for key in keys:
        if len(key) >= _SHORTEST_KEY:
            for form in _forms(key):
                if form in text:
                    text = text.replace(form, "[key]")
            if key[:_UNBROKEN] in text or " ".join(key[:_UNBROKEN]) in text:
                text = _split(key).sub("[key]", text)
    return text


@lru_cache(maxsize=64)
def _split(key: str) -> re.Pattern[str]:
    """Return a pattern of a key split over several lines or texts."""
    return re.compile(_BETWEEN.join(map(re.escape, key)))


@lru_cache(maxsize=64)
def _forms(key: str) -> tuple[str, ...]:
    """Return a key verbatim, URL-encoded, in one case, and in base64 (alone or as a bearer)."""
    plain = key.encode("utf-8", "surrogatepass")
    encoded = [
        encode(prefix + plain).decode().rstrip("=")
        for encode in (b64encode, urlsafe_b64encode)
        for prefix in (b"", b"Bearer ", b":")
    ]
    cased = [key.upper(), key.lower()]
    return tuple(dict.fromkeys([key, quote(plain, safe=""), *cased, *encoded]))


def one_line(text: str, *, longest: int) -> str:
    r"""Return the text in one line that is safe to print, without controls and escape sequences.

    Examples:
        >>> one_line("\x1b[31mred\x1b[0m\n  and \x07 loud", longest=100)
        'red and loud'
    """
    plain = printable(re.sub(r"\s+", " ", _ESCAPE.sub("", text)))
    return " ".join(storable(plain).split())[:longest]


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Return the values of environment variables named as a key, a token or a password.

    Examples:
        >>> secrets_in({"A_API_KEY": "sk-0123456789", "HOME": "/root", "B_TOKEN": "short"})
        ['sk-0123456789']
    """
    return [
        value
        for name, value in environ.items()
        if name.upper().endswith(_SECRET_NAMES) and len(value) >= _SHORTEST_KEY
    ]
