import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from eval_assets.labelling.adjudication import Disagreement, read_adjudications
from eval_assets.labelling.quality import QualityFigure
from eval_assets.labelling.sessions import Answer
from eval_assets.labelling.study import Study, replace_link, revoke_link
from eval_assets.server.app import adjudicator_links, lead_token, make_app, rater_links
from eval_assets.server.lead_pages import LeadSources, RaterProgress, rater_progress
from tests.unit.labelling.conftest import CLARITY, after, study_of

QUALITY = QualityFigure("clarity", "anna", "severity", -0.375, 12, "anna rates lower.")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return study_of(tmp_path, [{"response_text": "<b>one</b>"}, {}, {}])


@pytest.fixture
def client(study: Study) -> Iterator[TestClient]:
    sources = LeadSources(
        disagreements=lambda: [
            Disagreement("a0", "clarity", {"anna": 1.0, "ben": 5.0}, 1.0, {"ben": "superb"}),
            Disagreement("a1", "clarity", {"anna": 3.0, "ben": 4.0}, 0.25),
        ],
        quality=lambda: [QUALITY],
    )
    with TestClient(make_app(study, hosts=["testserver"], lead=sources)) as test_client:
        yield test_client


def case_links(client: TestClient, study: Study, by: str = "lea") -> list[str]:
    page = client.get(f"/lead/{lead_token(study)}/queue", params={"by": by}).text
    return re.findall(r'href="([^"]*/case/[^"]*)"', page)


def test_the_lead_sees_progress_figures_and_what_to_do(client: TestClient, study: Study) -> None:
    page = client.get(f"/lead/{lead_token(study)}").text

    assert "anna rates lower." in page
    assert "-0.38 !" in page
    assert "<b>2</b> disagreements" in page
    assert '<th scope="row">clarity</th><td>2</td><td>0</td>' in page


def test_advice_of_one_kind_stands_once_for_all_questions(study: Study) -> None:
    fast = [
        QualityFigure(question, "anna", "seconds", 0.3, 12, f"anna is fast on {question}.")
        for question in ("clarity", "correct")
    ]
    sources = LeadSources(disagreements=list, quality=lambda: fast)
    with TestClient(make_app(study, hosts=["testserver"], lead=sources)) as client:
        page = client.get(f"/lead/{lead_token(study)}").text

    assert "anna is fast on clarity." in page
    assert "also for correct" in page
    assert "anna is fast on correct." not in page
    assert "<b>0</b> disagreements" in page


def test_the_queue_shows_no_rating(client: TestClient, study: Study) -> None:
    page = client.get(f"/lead/{lead_token(study)}/queue", params={"by": "lea"}).text

    assert "of the scale apart" not in page
    assert "superb" not in page
    assert "&lt;b&gt;one" in page


def test_ratings_are_shown_only_after_ones_own(client: TestClient, study: Study) -> None:
    link = case_links(client, study)[0]
    before = client.get(link).text
    after = client.post(link, data={"step": "rate", "by": "lea", "value": "2"}).text

    assert "superb" not in before
    queue = client.get(f"/lead/{lead_token(study)}/queue", params={"by": "lea"}).text
    assert re.findall(r"(\d+) % of the scale apart", queue) == ["100"]
    assert "Rate the response yourself first" in before
    assert "superb" in after
    assert "superb" not in client.get(link.replace("by=lea", "by=max")).text


def test_a_case_has_its_place_its_neighbours_and_the_split(
    client: TestClient, study: Study
) -> None:
    first, second = case_links(client, study)
    before = client.get(first).text
    after = client.post(first, data={"step": "rate", "by": "lea", "value": "2"}).text

    assert "<h2>1 of 2</h2>" in before
    assert second in before
    assert "previous" not in before
    assert first in client.get(second).text
    assert "opinions" not in before
    assert "2 people, 2 opinions" in after
    split = re.findall(r"<li>.*?((?:<i></i>)*)</span><span class=\"peek\">(.)<", after)
    assert [(name, dots.count("<i>")) for dots, name in split] == [
        ("1", 1),
        ("2", 0),
        ("3", 0),
        ("4", 0),
        ("5", 1),
    ]


def test_values_stand_under_the_names_that_raters_know(study: Study) -> None:
    result = Disagreement("a2", "correct", {"anna": 1.0, "ben": 0.0}, 1.0)
    sources = LeadSources(disagreements=lambda: [result], quality=list)
    with TestClient(make_app(study, hosts=["testserver"], lead=sources)) as client:
        [link] = case_links(client, study)
        page = client.post(link, data={"step": "rate", "by": "lea", "value": "0"}).text

    assert re.findall(r'<th scope="row">(.*)</th><td>(.*?)</td>', page) == [
        ("You, before seeing the others", "No"),
        ("anna", "Yes"),
        ("ben", "No"),
    ]


def test_a_consensus_is_kept_with_what_was_given_and_why(client: TestClient, study: Study) -> None:
    link = case_links(client, study)[0]
    client.post(link, data={"step": "rate", "by": "lea", "value": "2"})
    client.post(link, data={"step": "comment", "by": "lea", "reason": "irony"})
    page = client.post(
        link, data={"step": "settle", "by": "lea", "value": "4", "reason": "ben is right"}
    ).text

    assert "Settled: 4" in page
    rated, noted, settled = read_adjudications(study.evaluation)
    assert (rated.step, rated.value, rated.ratings) == ("rating", 2, {})
    assert (noted.step, noted.reason) == ("comment", "irony")
    assert (settled.step, settled.value, settled.by) == ("consensus", 4, "lea")
    assert settled.ratings == {"anna": 1, "ben": 5}


def test_a_response_can_be_left_out_and_opened_again(client: TestClient, study: Study) -> None:
    link = case_links(client, study)[0]
    client.post(link, data={"step": "rate", "by": "lea", "value": "2"})
    exclusion = client.post(link, data={"step": "exclude", "by": "lea", "reason": "two readings"})
    reopened = client.post(link, data={"step": "reopen", "by": "lea", "reason": "new guideline"})

    assert "Left out as ambiguous" in exclusion.text
    assert "Or: why no value can be settled" in reopened.text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (
            {"step": "settle", "by": "lea", "value": "4", "reason": "x"},
            "rate the response yourself",
        ),
        ({"step": "rate", "by": "lea", "value": "9"}, "9 is not on the scale"),
        ({"step": "rate", "by": "lea"}, "choose a value"),
        ({"step": "rate", "by": " ", "value": "3"}, "say who you are"),
        ({"step": "comment", "by": "lea", "reason": " "}, "the comment is empty"),
        ({"by": "lea"}, "choose what to do"),
    ],
)
def test_a_step_that_cannot_be_saved_says_why(
    client: TestClient, study: Study, form: dict[str, str], message: str
) -> None:
    reply = client.post(case_links(client, study)[0], data=form)

    assert reply.status_code == 422
    assert message in reply.text
    assert read_adjudications(study.evaluation) == []


def test_step_that_is_no_text_is_refused(client: TestClient, study: Study) -> None:
    assert client.post(case_links(client, study)[0], content=b"\xff\xfe").status_code == 422


def test_raters_cannot_reach_the_pages_of_the_lead(client: TestClient, study: Study) -> None:
    token = rater_links(study, address="")["anna"].removeprefix("/r/")

    for path in (f"/lead/{token}", f"/r/{token}/queue", f"/lead/{token}/queue", "/lead"):
        assert client.get(path).status_code == 404


def test_without_lead_nothing_of_it_is_served(study: Study) -> None:
    with TestClient(make_app(study, hosts=["testserver"])) as client:
        assert client.get(f"/lead/{lead_token(study)}").status_code == 404


def test_rater_of_a_case_cannot_see_or_settle_it(client: TestClient, study: Study) -> None:
    link = case_links(client, study)[0]
    form = {"step": "rate", "by": "Ben", "value": "4"}

    assert case_links(client, study, by="ben") == []
    assert client.get(link.replace("by=lea", "by=ben")).status_code == 404
    assert client.post(link, data=form).status_code == 404
    assert read_adjudications(study.evaluation) == []


def test_declared_adjudicators_have_links_of_their_own(study: Study) -> None:
    labelling = replace(study.evaluation.labelling, adjudicators=("lea", "max"))
    study = replace(study, evaluation=replace(study.evaluation, labelling=labelling))
    sources = LeadSources(
        disagreements=lambda: [Disagreement("a0", "clarity", {"anna": 1.0, "ben": 5.0}, 1.0)],
        quality=list,
    )
    links = adjudicator_links(study, address="")
    with TestClient(make_app(study, hosts=["testserver"], lead=sources)) as client:
        lead = f"/lead/{lead_token(study)}"
        assert "Adjudicators, each with an own link: lea, max." in client.get(lead).text
        assert client.get(f"{lead}/queue", params={"by": "lea"}).status_code == 404
        [case] = re.findall(r'href="([^"]*/case/[^"]*)"', client.get(links["lea"]).text)
        assert "Ratings" not in client.get(case).text
        guess = hashlib.sha256(b"a0\x1fclarity").hexdigest()
        assert guess[:16] not in case  # the id may name the model
        client.post(case, data={"step": "rate", "by": "max", "value": "2"})

    [step] = read_adjudications(study.evaluation)
    assert (step.by, step.step) == ("lea", "rating")


def test_link_of_an_adjudicator_can_be_replaced_and_revoked(study: Study) -> None:
    labelling = replace(study.evaluation.labelling, adjudicators=("lea", "max"))
    study = replace(study, evaluation=replace(study.evaluation, labelling=labelling))
    sources = LeadSources(disagreements=list, quality=list)
    with TestClient(make_app(study, hosts=["testserver"], lead=sources)) as client:
        links = [adjudicator_links(study, address="")["lea"]]
        replace_link(study, "lea")
        links.append(adjudicator_links(study, address="")["lea"])
        assert [client.get(link).status_code for link in links] == [404, 200]
        revoke_link(study, "lea")
        assert client.get(links[1]).status_code == 404
        assert client.get(f"{links[1]}/case/0123").status_code == 404

    assert adjudicator_links(study, address="").keys() == {"max"}


def test_a_disagreement_that_is_gone_is_not_found(client: TestClient, study: Study) -> None:
    assert client.get(f"/lead/{lead_token(study)}/case/0123?by=lea").status_code == 404


def answer(study: Study, rater: str, *places: int, seconds: float | None = 30) -> None:
    queue = study.queues[rater]
    for place in places:
        inputs = Answer(rating=4, seconds=seconds)
        queue.answer(queue.units[place], inputs, at=after(100 * place))


def progress(study: Study, rater: str) -> RaterProgress:
    return next(one for one in rater_progress(study) if one.rater_id == rater)


@pytest.fixture
def ten_responses(tmp_path: Path) -> Study:
    return study_of(tmp_path, [{}] * 10, rubric=(CLARITY,))


def test_hours_are_the_times_of_answers_without_breaks(ten_responses: Study) -> None:
    answer(ten_responses, "anna", 0, 1)
    answer(ten_responses, "anna", 2, seconds=9000)
    result = progress(ten_responses, "anna")

    assert result.hours == pytest.approx((30 + 30 + 600) / 3600)
    assert result.labels_per_hour == pytest.approx(3 * 3600 / 660)
    assert (result.n_done, result.n_units, result.n_skipped) == (3, 10, 0)
    assert result.last_at == after(200)


def test_answers_without_a_time_have_no_hours(ten_responses: Study) -> None:
    answer(ten_responses, "anna", 0, seconds=None)

    assert (
        progress(ten_responses, "anna").hours,
        progress(ten_responses, "anna").labels_per_hour,
    ) == (None, None)


def test_damaged_session_leaves_the_progress_of_others(ten_responses: Study) -> None:
    answer(ten_responses, "ben", 0)
    (ten_responses.sessions.path / "anna+clarity+r1.json").write_text("{")

    assert progress(ten_responses, "anna").n_done is None
    assert progress(ten_responses, "ben").n_done == 1
