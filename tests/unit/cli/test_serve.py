"""Links that `serve` prints and changes."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eval_assets.cli.serve import serve


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clear, question: Is it clear?, scale: binary}\n"
        "labelling: {raters: [anna, ben]}\n"
    )
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\na,p,r,m\n"
    )
    return tmp_path


def run(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(serve, ["--data", str(folder), *options], standalone_mode=False)


def test_new_link_has_the_public_address_and_differs_each_time(folder: Path) -> None:
    address = ("--public-url", "https://labels.example.org/")
    links = [run(folder, "--new-link", "anna", *address).stdout.split()[1] for _ in range(2)]

    assert all(link.startswith("https://labels.example.org/r/") for link in links)
    assert links[0] != links[1]


def test_revoking_a_link_is_confirmed(folder: Path) -> None:
    assert run(folder, "--revoke", "ben").stdout.split() == ["ben", "link", "revoked"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--revoke", "max"], "max is neither a rater nor an adjudicator here"),
        (["--new-link", "max"], "max is neither a rater nor an adjudicator here"),
        (["--labels", "--public-url", "labels.example.org"], "is not an address such as"),
        (["--labels", "--public-url", "https://a.example/b"], "is not an address such as"),
    ],
)
def test_misuse_is_named(folder: Path, options: list[str], message: str) -> None:
    assert message in str(run(folder, *options).exception)
