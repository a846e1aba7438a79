"""Results for people and programs: read-only, and with a token from other machines."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from eval_assets.server.results import Results, make_results_app

IRR: dict[str, Any] = {
    "workshop_id": "pilot",
    "score": 87.5,
    "details": {"error": None, "num_raters": 2, "gates": {"human_alpha": {}}},
}

SECRET = "s3cret"  # noqa: S105 - made up


class BrokenError(Exception):
    """The error that the store raises if the results cannot be read."""


def client(
    folder: Path, *, token: str = "", irr: dict[str, Any] | None = IRR, broken: bool = False
) -> TestClient:
    def found() -> dict[str, Any] | None:
        if broken:
            raise BrokenError("the database is in use")
        return irr

    results = Results(
        name="pilot",
        report=folder / "report.html",
        irr=found,
        judge_agreement=lambda: [{"krippendorffsAlpha": 0.8}],
        judges=lambda: [{"judge_id": "gpt"}],
        certificates=lambda: [{"judge_id": "gpt", "fitness": "fit"}],
        unavailable=(BrokenError,),
    )
    app = make_results_app([results], hosts=["testserver"], token=token)
    return TestClient(app, raise_server_exceptions=False)


def test_the_report_and_its_figures_are_served(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("<h1>Report</h1>")
    browser = client(tmp_path)

    assert browser.get("/").text == "<h1>Report</h1>"
    assert "script-src 'unsafe-inline'" in browser.get("/").headers["content-security-policy"]
    assert browser.get("/workshops/pilot/irr").json() == IRR
    assert browser.get("/certificates").json() == [{"judge_id": "gpt", "fitness": "fit"}]
    for start in ("", "/evaluations/pilot", "/workshops/pilot"):
        assert browser.get(f"{start}/irr").json() == IRR
        assert browser.get(f"{start}/judge_agreement").json() == [{"krippendorffsAlpha": 0.8}]
        assert browser.get(f"{start}/judges").json() == [{"judge_id": "gpt"}]
    assert browser.get("/health").json() == {"status": "ok"}
    assert browser.get("/status").json() == {
        "workshop_id": "pilot",
        "has_sufficient_data": True,
        "ready_for_calculation": True,
        "error": None,
        "num_raters": 2,
    }


def test_what_is_not_there_is_said_with_404(tmp_path: Path) -> None:
    browser = client(tmp_path, irr=None)

    replies = [browser.get(path) for path in ("/", "/workshops/pilot/irr", "/workshops/other/irr")]
    assert [reply.status_code for reply in replies] == [404, 404, 404]
    assert replies[2].json() == {"error": "There is no evaluation other here, but pilot."}
    assert browser.get("/status").json()["has_sufficient_data"] is False


def test_each_evaluation_of_a_folder_is_addressed_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text("<h1>Second</h1>")
    names = ("pilot", "b & <c>")
    evaluations = [
        Results(
            name=name,
            report=tmp_path / "b.html",
            irr=lambda name=name: {**IRR, "workshop_id": name},  # type: ignore[misc]
            judge_agreement=list,
            judges=list,
            certificates=list,
            unavailable=(BrokenError,),
        )
        for name in names
    ]
    browser = TestClient(make_results_app(evaluations, hosts=["testserver"], token=SECRET))
    browser.headers["authorization"] = f"Bearer {SECRET}"

    assert browser.get("/workshops").json() == list(names)
    assert browser.get("/workshops/b%20%26%20%3Cc%3E/irr").json()["workshop_id"] == "b & <c>"
    assert browser.get("/workshops/pilot/status").json()["workshop_id"] == "pilot"
    assert "b &amp; &lt;c&gt;</a>" in browser.get("/").text
    assert '"/evaluations/b%20%26%20%3Cc%3E/report"' in browser.get("/").text
    assert browser.get("/workshops/b%20%26%20%3Cc%3E/report").text == "<h1>Second</h1>"
    assert browser.get("/status").status_code == 404


def test_results_that_cannot_be_read_now_are_503(tmp_path: Path) -> None:
    reply = client(tmp_path, broken=True).get("/status")

    assert (reply.status_code, reply.json()) == (503, {"error": "the database is in use"})


@pytest.mark.parametrize("path", ["/", "/health", "/certificates", "/workshops/pilot/irr"])
def test_nothing_is_shown_without_the_token(tmp_path: Path, path: str) -> None:
    browser = client(tmp_path, token=SECRET)
    (tmp_path / "report.html").write_text("<h1>Report</h1>")

    assert browser.get(path).status_code == 401
    assert browser.get(path, headers={"Authorization": "Bearer other"}).status_code == 401
    assert browser.get(path, headers={"Authorization": f"Bearer {SECRET}"}).status_code == 200
    assert browser.get(f"{path}?token={SECRET}").status_code == 200


def test_nothing_can_be_changed(tmp_path: Path) -> None:
    browser = client(tmp_path)

    assert {browser.post(path).status_code for path in ("/", "/certificates", "/status")} == {405}
