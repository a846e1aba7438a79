"""Responses with nearly the same text."""

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

LEAST_SHARED = 0.7
"""Share of their sequences of three words that nearly identical texts have in common (a choice)."""

_N_WORDS = 3
_N_BINS = 32
_LEAST_ESTIMATED = 0.45
"""Estimated share from which on the exact one is computed: 2.5 standard errors of 32 bins less."""


def text_codes(texts: Sequence[str]) -> Integers:
    """Return a number for each text, the same for texts that are nearly identical.

    Texts are nearly identical if they have the same words and signs in the same order, or share
    70 % of their sequences of three of them (Jaccard index), and so are texts that a third one
    connects. Pairs are chosen by one-permutation hashing and then compared exactly.

    Args:
        texts: The texts; those without a word or sign are identical to no other.

    References:
        Broder (1997), doi:10.1109/SEQUEN.1997.666900; Li, Owen and Zhang (2012), One permutation
        hashing, NeurIPS 25.

    Examples:
        >>> text_codes(["Open the valve.", "open  the valve.", "Close the valve.", ""]).tolist()
        [0, 0, 1, 2]
    """
    words = [re.findall(r"\w+|[^\w\s]", text.casefold()) for text in texts]
    code = _same_words([" ".join(of_text) for of_text in words])
    _, first = np.unique(code, return_index=True)
    shingles = [_shingles(words[index]) for index in first]
    signature = np.stack([_signature(of_text) for of_text in shingles] or [np.empty(0, np.int64)])
    parent = np.arange(len(first))
    for index, own in enumerate(signature):
        is_either = (own > 0) | (signature[:index] > 0)
        is_same = (own == signature[:index]) & is_either
        share = is_same.sum(axis=1) / np.maximum(is_either.sum(axis=1), 1)
        for other in np.flatnonzero(share >= _LEAST_ESTIMATED):
            n_shared = len(np.intersect1d(shingles[index], shingles[other], assume_unique=True))
            n_all = len(shingles[index]) + len(shingles[other]) - n_shared
            if n_shared >= LEAST_SHARED * n_all:
                parent[parent == parent[index]] = parent[other]
    numbers: Integers = np.unique(parent, return_inverse=True)[1][code]
    return numbers


def _same_words(texts: Sequence[str]) -> Integers:
    """Return a number for each text, in order of appearance; an empty text has its own."""
    numbers: dict[object, int] = {}
    codes = [numbers.setdefault(text or index, len(numbers)) for index, text in enumerate(texts)]
    return np.array(codes, dtype=np.int64)


def _shingles(words: Sequence[str]) -> Integers:
    """Return the hashes of the sequences of three words; of fewer words there are none."""
    sequences = zip(*(words[start:] for start in range(_N_WORDS)), strict=False)
    return np.unique([zlib.crc32(" ".join(sequence).encode()) for sequence in sequences])


def _signature(shingles: Integers) -> Integers:
    """Return the smallest hash of each bin, plus one; 0 for a bin without any."""
    signature = np.zeros(_N_BINS, np.int64)
    descending = shingles[::-1].astype(np.int64)
    signature[descending % _N_BINS] = descending + 1  # the last one assigned is the smallest
    return signature
