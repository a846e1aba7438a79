"""Folders and ledgers of earlier versions open and keep what cannot be recomputed."""

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import Evaluated

pytestmark = pytest.mark.slow

UPGRADES = Path(__file__).parent / "upgrades"

LIVE = {"OPENAI_API_KEY": "sk-fake-provider", "OPENAI_BASE_URL": "http://127.0.0.1:8765/v1"}
"""Key and endpoint that the replies are of. No server listens there now."""

KEPT = ("requests", "attempts", "judge_versions", "test_set_uses", "histories")
"""Tables of the ledger that hold what cannot be recomputed."""

EARLIER = "it was decided by an earlier rule"

Row = Mapping[str, object]


@pytest.fixture(params=sorted(path.parent.name for path in UPGRADES.glob("*/tuned.sqlite")))
def earlier(request: pytest.FixtureRequest) -> Path:
    """What one earlier version wrote."""
    return UPGRADES / str(request.param)


def folder_of(earlier: Path, kind: str, path: Path) -> Evaluated:
    """Return an evaluation folder with the ledger of an earlier version, which has run on it."""
    folder = Evaluated(path / kind)
    shutil.copytree(UPGRADES / "inputs" / kind, folder.path)
    shutil.copy(earlier / f"{kind}.sqlite", folder.path / "ledger.sqlite")
    if kind == "live":
        shutil.copytree(earlier / "sessions", folder.path / "sessions")
    return folder


def kept_rows(folder: Evaluated) -> dict[str, list[Row]]:
    """Return the rows of the ledger that cannot be recomputed, in the order of storage."""
    with closing(sqlite3.connect(folder.path / "ledger.sqlite")) as ledger:
        ledger.row_factory = sqlite3.Row
        query = "SELECT * FROM {} ORDER BY rowid"
        return {name: [dict(row) for row in ledger.execute(query.format(name))] for name in KEPT}


def n_schema_changes(folder: Evaluated) -> int:
    """Return SQLite's count of changes to the ledger's tables."""
    with closing(sqlite3.connect(folder.path / "ledger.sqlite")) as ledger:
        [(version,)] = ledger.execute("PRAGMA schema_version")
    assert isinstance(version, int)
    return version


def assert_kept(before: Mapping[str, list[Row]], after: Mapping[str, list[Row]]) -> None:
    """Check that no row was lost or changed, except for more columns and more notes."""
    for table, rows in before.items():
        assert len(after[table]) >= len(rows)
        for row, later in zip(rows, after[table], strict=False):
            assert {name: later[name] for name in row.keys() - {"notes"}} == {
                name: value for name, value in row.items() if name != "notes"
            }, table


def test_sealed_tests_and_certificates_of_an_earlier_version_are_kept(
    earlier: Path, tmp_path: Path
) -> None:
    folder = folder_of(earlier, "tuned", tmp_path)
    before = kept_rows(folder)

    first = folder.call("run")
    after = kept_rows(folder)
    n_changes = n_schema_changes(folder)
    second = folder.call("run", "--select", "+judge_certificates")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert_kept(before, after)
    assert_kept(after, kept_rows(folder))
    assert len(after["test_set_uses"]) == len(kept_rows(folder)["test_set_uses"]) == 1
    assert n_schema_changes(folder) == n_changes
    assert folder.rows(
        "SELECT judge_id, version, fitness, improvement, n_groups, n_readings, "
        "split_part(stale_because, ';', 1) FROM judge_certificates ORDER BY judge_id"
    ) == [
        ("harsh", "1.0.1", "undecided", "accepted", 65, 1, EARLIER),
        ("steady", "1.0.0", "fit", "unchanged", 65, 1, EARLIER),
        ("verbose", "1.0.0", "unfit", "unchanged", 65, 1, EARLIER),
    ]
    for judge in ("steady", "verbose"):
        certificates = folder.call("certificates", "--require", judge)
        assert certificates.returncode == 4
        assert certificates.stdout.startswith(f"{judge} on completeness: NOT MEASURED: {EARLIER}")
    verified = folder.call("certificates", "verify")
    assert (verified.returncode, verified.stdout.count(f"stale, because {EARLIER}")) == (4, 2)

    assert folder.call("tune").returncode == 0
    assert folder.call("certificates", "--require", "steady").returncode == 0
    assert len(kept_rows(folder)["test_set_uses"]) == 2


def test_replies_and_labels_of_an_earlier_version_are_kept(
    earlier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in LIVE.items():
        monkeypatch.setenv(name, value)
    folder = folder_of(earlier, "live", tmp_path)
    before = kept_rows(folder)

    first = folder.call("run")
    after = kept_rows(folder)
    n_changes = n_schema_changes(folder)
    second = folder.call("run", "--select", "+judge_scores,+human_labels")

    # Eight responses are too few for the gates.
    assert (first.returncode, second.returncode) == (3, 0), first.stderr + second.stderr
    assert_kept(before, after)
    assert n_schema_changes(folder) == n_changes
    assert len(kept_rows(folder)["attempts"]) == len(before["attempts"]) == 8
    assert folder.rows("SELECT status, count(*) FROM judge_scores GROUP BY ALL") == [("ok", 8)]
    assert folder.rows(
        "SELECT rater_id, list(value ORDER BY response_id) FROM human_labels "
        "GROUP BY ALL ORDER BY ALL"
    ) == [
        ("anna", [2, 2, 1, 1, 5, 3, 3, 4]),
        ("ben", [1, 2, 3, 4, 5, 1, 2, 3]),
    ]
