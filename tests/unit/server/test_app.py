import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.gold_answers import Check
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.rater_view import ResponseView, response_views
from eval_assets.labelling.study import Study, replace_link, revoke_link
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labelling_inputs import read_assignments
from eval_assets.readers.responses import read_responses
from eval_assets.server.app import lead_token, make_app, rater_links
from eval_assets.server.lead_pages import LeadSources
from tests.unit.labelling.conftest import CLARITY, study_of

ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    rows: list[dict[str, object]] = [
        {"response_id": "id-of-0", "response_text": ATTACK},
        {"response_id": "id-of-1", "response_text": "only ben sees this"},
    ]
    assignments = [
        Assignment("id-of-0", "anna"),
        Assignment("id-of-0", "ben"),
        Assignment("id-of-1", "ben"),
    ]
    return study_of(tmp_path, rows, assignments=assignments)


@pytest.fixture
def client(study: Study) -> Iterator[TestClient]:
    app = make_app(study, hosts=["testserver"])
    with TestClient(app, raise_server_exceptions=False) as test_client:
        yield test_client


def link(study: Study, rater: str) -> str:
    return rater_links(study, address="")[rater]


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 5000, "²"])
def test_odd_round_has_the_answers_of_this_one(
    study: Study, client: TestClient, number: str
) -> None:
    reply = client.get(f"{link(study, 'anna')}/answers", params={"round": number})
    assert (reply.status_code, reply.json()) == (200, {})


def test_images_of_texts_are_served_and_no_other_files(tmp_path: Path) -> None:
    (tmp_path / "shown.png").write_bytes(b"shown")
    (tmp_path / "other.png").write_bytes(b"other")
    study = study_of(tmp_path, [{"response_text": "![plot](shown.png)"}], text="markdown")
    with TestClient(make_app(study, hosts=["testserver"])) as client:
        [address] = set(re.findall(r"/images/\w+", client.get(link(study, "anna")).text))
        image = client.get(address)
        names = [hashlib.sha256(b"other").hexdigest()[:32], "other.png", "..%2Fother.png"]
        statuses = [client.get(f"/images/{name}").status_code for name in names]

    assert (image.content, image.headers["content-type"]) == (b"shown", "image/png")
    assert statuses == [404, 404, 404]


def units(client: TestClient, study: Study, rater: str) -> list[str]:
    page = client.get(link(study, rater)).text
    task = json.loads(page.partition('id="task">')[2].partition("</script>")[0])
    return [unit["code"] for unit in task["units"]]


def label(
    client: TestClient, study: Study, rater: str, unit: str, **message: object
) -> tuple[int, dict[str, object]]:
    reply = client.post(f"{link(study, rater)}/labels", json={"unit": unit, "rating": 4, **message})
    return reply.status_code, reply.json()


def test_a_label_is_on_disk_before_the_server_replies(client: TestClient, study: Study) -> None:
    first = units(client, study, "anna")[0]

    assert label(client, study, "anna", first) == (200, {"done": 1})
    assert study.queue("anna").labels()[0].rating == 4
    assert client.get(f"{link(study, 'anna')}/answers").json()[first]["rating"] == 4


def test_links_stay_the_same_and_differ_by_rater(study: Study) -> None:
    assert rater_links(study, address="") == rater_links(study, address="")
    assert len(set(rater_links(study, address="").values())) == 2
    assert (study.sessions.path / ".key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "path",
    ["/", "/r/", "/r/0123456789abcdef", "/static/../app.py", "/static/other.js", "/sessions"],
)
def test_nothing_is_reached_without_a_link(client: TestClient, path: str) -> None:
    reply = client.get(path)

    assert reply.status_code == 404
    assert "anna" not in reply.text


def test_no_byte_of_the_answers_to_a_rater_is_from_another_rater(
    client: TestClient, study: Study
) -> None:
    for code in units(client, study, "ben"):
        label(client, study, "ben", code, rating=1, notes="ben's own words")
    anna = link(study, "anna")
    replies = [client.get(path) for path in (anna, f"{anna}/answers", "/static/label.js", "/")]
    replies.append(client.post(f"{anna}/labels", json={"unit": units(client, study, "anna")[0]}))
    replies.append(client.post(f"{anna}/close"))

    for reply in replies:
        complete = reply.text + str(reply.headers)
        for secret in ("ben", "own words", "only ben sees", "id-of-", link(study, "ben")[3:]):
            assert secret not in complete.replace("benefit", "")


def test_no_byte_of_the_answers_to_a_rater_is_from_a_judge_or_a_label_file(tmp_path: Path) -> None:
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clarity, question: Is it clear?, scale: likert5}\n"
        "judges: [{id: hidden-judge, provider: recorded, model: hidden-model, scores: s.csv}]\n"
        "labelling: {raters: [anna, ben], show: [topic], hide: [expected]}\n"
    )
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name,topic,expected\n"
        "a1,Ask,Answer,system-under-test,law,the expected outcome\n"
    )
    (tmp_path / "s.csv").write_text(
        "response_id,judge_model,question_id,score,raw_output\n"
        "a1,hidden-model,clarity,4.125,because it says 4.125\n"
    )
    (tmp_path / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating,notes\na1,cleo,clarity,2,what cleo wrote\n"
    )
    evaluation = read_evaluation(tmp_path)
    shown = response_views(evaluation, read_responses(evaluation))
    study = Study(evaluation, shown, read_assignments(evaluation))
    with TestClient(make_app(study, hosts=["testserver"])) as client:
        anna = link(study, "anna")
        code = units(client, study, "anna")[0]
        label(client, study, "anna", code)
        replies = [client.get(path) for path in (anna, f"{anna}/answers", f"{anna}/nothing", "/")]
        replies.append(client.post(f"{anna}/labels", content=b"{", headers={"content-type": "x/y"}))

    assert "law" in replies[0].text
    for message in [reply.text + str(reply.headers) for reply in replies]:
        for secret in ("4.125", "hidden-", "cleo", "because", "expected", "under-test", "ben"):
            assert secret not in message


def test_raters_cannot_label_what_is_not_theirs(client: TestClient, study: Study) -> None:
    of_ben = units(client, study, "ben")[1]

    status, reply = label(client, study, "anna", of_ben)

    assert status == 422
    assert "not among yours" in str(reply["refused"])


@pytest.mark.parametrize(
    "message", [{"rating": 9}, {"rating": "x"}, {"rating": True}, {"confidence": "sure"}]
)
def test_what_cannot_be_a_label_is_refused_with_a_reason(
    client: TestClient, study: Study, message: dict[str, object]
) -> None:
    status, reply = label(client, study, "anna", units(client, study, "anna")[0], **message)

    assert status == 422
    assert reply["refused"]
    assert study.queue("anna").labels() == {}


def test_answers_that_are_no_json_or_too_long_are_refused(client: TestClient, study: Study) -> None:
    path = f"{link(study, 'anna')}/labels"

    assert client.post(path, content="x", headers={"content-type": "text/plain"}).status_code == 415
    too_long = {"unit": "u", "notes": "x" * 300_000}
    assert client.post(path, json=too_long).status_code == 413
    assert (
        client.post(path, content="{", headers={"content-type": "application/json"}).status_code
        == 422
    )


def test_label_of_an_earlier_round_is_stored_in_that_round(
    client: TestClient, study: Study
) -> None:
    first = units(client, study, "anna")[0]
    with TestClient(make_app(study.at_round(3), hosts=["testserver"])) as later:
        assert label(later, study, "anna", first) == (200, {"done": 1})
        answers = later.get(f"{link(study, 'anna')}/answers", params={"round": 1}).json()

    assert list(answers) == [first]
    assert study.queue("anna").labels()[0].rating == 4
    assert [path.stem for path in study.sessions.files()] == ["anna+clarity+r1"]


def test_label_of_a_page_whose_clock_is_wrong_has_an_unknown_time(
    client: TestClient, study: Study
) -> None:
    years = 1000 * 3600 * 24 * 366 * 30
    codes = units(client, study, "anna")
    for unit, age in zip(codes, (years, -years), strict=True):
        assert label(client, study, "anna", unit, rating=1, ageMs=age)[0] == 200

    labels = study.queue("anna").labels().values()
    assert [one.is_time_known for one in labels] == [False, False]
    assert all(one.labelled_at > now() - timedelta(hours=1) for one in labels)


def test_a_full_disk_is_no_refusal_so_that_the_page_tries_again(
    client: TestClient, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = units(client, study, "anna")[0]
    monkeypatch.setattr("os.fsync", _no_space)

    status, reply = label(client, study, "anna", first)
    assert status == 503
    assert "the server's disk is full" in str(reply["unavailable"])
    monkeypatch.undo()
    assert label(client, study, "anna", first)[0] == 200


def _no_space(_: int) -> None:
    raise OSError(28, "No space left on device")


def test_response_text_is_data_and_our_own_scripts_only_may_run(
    client: TestClient, study: Study
) -> None:
    reply = client.get(link(study, "anna"))

    assert "<script>alert" not in reply.text
    assert "<img" not in reply.text
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/", "/static/label.js", "/nowhere"])
def test_every_answer_has_the_headers_that_keep_links_secret(client: TestClient, path: str) -> None:
    headers = client.get(path).headers

    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


def test_a_server_addressed_by_another_name_does_not_answer(
    client: TestClient, study: Study
) -> None:
    reply = client.get(link(study, "anna"), headers={"host": "evil.example"})

    assert reply.status_code == 400


def test_link_that_is_replaced_or_revoked_ends(client: TestClient, study: Study) -> None:
    first = link(study, "anna")
    replace_link(study, "anna")
    second = link(study, "anna")
    assert [client.get(path).status_code for path in (first, second)] == [404, 200]

    revoke_link(study, "anna")
    assert "anna" not in rater_links(study, address="")
    reply = client.post(f"{second}/labels", json={"unit": "u"})
    assert (client.get(second).status_code, reply.status_code) == (404, 404)
    assert "this link is not valid any more" in reply.json()["unavailable"]

    replace_link(study, "anna")
    assert link(study, "anna") not in {first, second}
    assert client.get(link(study, "anna")).status_code == 200
    assert [path.name for path in study.sessions.files()] == []


def test_running_server_follows_the_assignments(study: Study) -> None:
    studies = [study]
    app = make_app(study, hosts=["testserver"], current=lambda: studies[-1])
    with TestClient(app) as client:
        [first, _] = units(client, study, "anna")
        assert label(client, study, "anna", first)[0] == 200
        more = [*(study.assignments or ()), Assignment("id-of-1", "anna")]
        studies.append(replace(study, assignments=more))
        assert len(units(client, study, "anna")) == 4
        assert label(client, study, "anna", units(client, study, "anna")[1])[1] == {"done": 2}


def test_stopping_closes_the_session(client: TestClient, study: Study) -> None:
    label(client, study, "anna", units(client, study, "anna")[0])
    client.post(f"{link(study, 'anna')}/close")

    [path] = study.sessions.files()
    session = study.sessions.find(path.stem)
    assert session is not None
    assert session.closed_at is not None


def test_a_damaged_file_is_named_to_the_lead_only(study: Study) -> None:
    study.sessions.path.mkdir(exist_ok=True)
    (study.sessions.path / "anna+clarity+r1.json").write_text("{")
    lead = LeadSources(disagreements=list, quality=list)
    app = make_app(study, hosts=["testserver"], lead=lead)
    with TestClient(app, raise_server_exceptions=False) as client:
        to_rater = client.get(link(study, "anna"))
        to_lead = client.get(f"/lead/{lead_token(study)}")

    assert (to_rater.status_code, to_lead.status_code) == (503, 200)
    assert "sessions/" not in to_rater.text
    assert "sessions/anna+clarity+r1.json: this is not a labelling session" in to_lead.text


def test_calibration_opens_the_work_and_tells_its_result(client: TestClient, study: Study) -> None:
    gold = [ResponseView(f"g{n}", "", f"Gold {n}", (CLARITY,)) for n in range(2)]
    checks = [Check(view, {"clarity": frozenset({4.0})}) for view in gold]
    before = units(client, study, "anna")
    calibrated = replace(study, calibration=checks)
    with TestClient(make_app(calibrated, hosts=["testserver"])) as calibrating:
        page = calibrating.get(link(study, "anna")).text
        assert "alert(1)" not in page
        codes = units(calibrating, study, "anna")
        assert not {*codes} & {*before}
        for code in codes:
            assert label(calibrating, study, "anna", code, rating=1)[0] == 200
        for code in codes:
            assert label(calibrating, study, "anna", code, undo=True)[0] == 200
            assert label(calibrating, study, "anna", code)[0] == 200
        assert units(calibrating, study, "anna") == codes
        calibrating.post(f"{link(study, 'anna')}/close")

        assert units(calibrating, study, "anna") == before
        assert "2 of 2 matched" in calibrating.get(link(study, "anna")).text
        assert "2 of 2 matched" not in page
    assert study.sessions.files() == []


def test_discussion_label_is_kept_if_its_response_was_adjudicated_meanwhile(
    tmp_path: Path,
) -> None:
    study = study_of(tmp_path, [{}], rubric=(CLARITY,), discussion=True)
    code = next(c for c, u in study.possible_units("anna").items() if u.key.kind == "discussion")
    with TestClient(make_app(study, hosts=["testserver"])) as client:
        assert label(client, study, "anna", code)[0] == 200

    [session] = study.sessions.readable("discussion")[0]
    assert [one.rating for one in session.labels] == [4]
    assert study.sessions.files() == []


def test_label_that_waited_while_a_calibration_was_declared_is_kept(
    client: TestClient, study: Study
) -> None:
    check = Check(ResponseView("g", "", "Gold", (CLARITY,)), {"clarity": frozenset({4.0})})
    first = units(client, study, "anna")[0]
    with TestClient(
        make_app(replace(study, calibration=[check]), hosts=["testserver"])
    ) as calibrating:
        assert label(calibrating, study, "anna", first) == (200, {"done": 1})
    assert study.queue("anna").labels()[0].rating == 4


def test_pages_ask_for_a_password_beside_the_link(study: Study) -> None:
    app = make_app(study, hosts=["testserver"], password="geheim-ä")  # noqa: S106 - of a test
    with TestClient(app) as client:
        address = link(study, "anna")
        refused = client.get(address)
        wrong = client.get(address, auth=("anna", "geheim"))
        other_scheme = client.get(address, headers={"authorization": "Bearer geheim"})
        label = client.post(f"{address}/labels", json={"unit": "u", "rating": 4})
        page = client.get(address, auth=("anyone", "geheim-ä"))

    assert [r.status_code for r in (refused, wrong, other_scheme, label)] == [401] * 4
    assert refused.headers["www-authenticate"].startswith("Basic ")
    assert page.status_code == 200


def test_links_are_not_valid_after_their_last_day(study: Study) -> None:
    def at_day(day: date) -> Study:
        labelling = replace(study.evaluation.labelling, links_valid_until=day)
        return replace(study, evaluation=replace(study.evaluation, labelling=labelling))

    address, today = link(study, "anna"), now().date()
    statuses = []
    for day in (today, today - timedelta(days=1)):
        with TestClient(make_app(at_day(day), hosts=["testserver"])) as client:
            statuses.append(client.get(address).status_code)
            reply = client.post(f"{address}/labels", json={"unit": "u", "rating": 4})
            statuses.append(reply.status_code)

    assert statuses == [200, 422, 404, 404]
    assert "ask for the new one" in reply.json()["unavailable"]
