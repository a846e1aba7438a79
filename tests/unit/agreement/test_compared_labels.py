"""Responses with nearly the same text."""

import numpy as np

from eval_assets.agreement.compared_labels import text_codes

WORDS = "a bleed the radiator valve open close slowly then water cloth cup key turn wait"


def text(rng: np.random.Generator, n: int) -> list[str]:
    return [str(word) for word in rng.choice(WORDS.split(), n)]


def test_texts_that_share_most_of_their_sequences_are_the_same() -> None:
    """One word of 40 is in three of 38 sequences: they share 35 of 41, or 85 %."""
    rng = np.random.default_rng(1)
    originals = [text(rng, 40) for _ in range(200)]
    changed = [[*words[:20], "otherwise", *words[21:]] for words in originals]

    codes = text_codes([" ".join(words) for words in [*originals, *changed]])

    assert codes[:200].tolist() == codes[200:].tolist()
    assert len(set(codes.tolist())) == 200


def test_texts_that_share_half_of_their_sequences_differ() -> None:
    rng = np.random.default_rng(1)
    originals = [text(rng, 40) for _ in range(200)]
    halves = [[*words[:26], *text(rng, 14)] for words in originals]

    codes = text_codes([" ".join(words) for words in [*originals, *halves]])

    assert len(set(codes.tolist())) == 400


def test_signs_count_and_space_and_case_do_not() -> None:
    codes = text_codes(["x = [1]", "X  =\n[1]", "x = (1)", "", "", " "])

    assert codes.tolist() == [0, 0, 1, 2, 3, 4]


def test_a_text_connects_those_that_are_like_it() -> None:
    """Each has one sentence of ten exchanged; the first and the last share eight of ten."""
    sentences = [f"step {k} takes number {k} of all {k} tools." for k in range(12)]
    chain = [sentences[start : start + 10] for start in range(3)]

    codes = text_codes([" ".join(part) for part in chain])

    assert len(set(codes.tolist())) == 1


def test_no_texts_have_no_numbers() -> None:
    assert text_codes([]).tolist() == []
