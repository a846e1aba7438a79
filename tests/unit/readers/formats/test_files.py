import gzip
import os
from pathlib import Path
from unittest.mock import patch

import pytest

from eval_assets.errors import InputError
from eval_assets.readers.formats import files
from eval_assets.readers.formats.files import (
    decoded,
    decoded_as_guessed,
    files_below,
    named,
    read_bytes,
    source_fingerprint,
)


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as raised:
        decoded(data, file="labels.csv")
    return str(raised.value)


def test_a_byte_order_mark_is_not_part_of_the_text() -> None:
    assert decoded(b"\xef\xbb\xbfa,b", file="labels.csv") == "a,b"


def test_a_byte_that_is_not_utf8_is_reported_with_its_place() -> None:
    """In cp1252, e with an acute accent is 0xe9: byte 8 of the file, on its second line."""
    assert refused("a,b\ncaf\u00e9,1\n".encode("cp1252")) == (
        "labels.csv:2: byte 8 of the file (0xe9) is not UTF-8. "
        'Save the file as UTF-8 (in Excel: "CSV UTF-8").'
    )


def test_a_byte_order_mark_does_not_shift_the_place() -> None:
    assert refused(b"\xef\xbb\xbfa\n\xe9").startswith("labels.csv:2: byte 6 of the file (0xe9)")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_read_with_its_mark_and_without(encoding: str) -> None:
    assert decoded("a,b\ncaf\u00e9,1\n".encode(encoding), file="x") == "a,b\ncaf\u00e9,1\n"


def test_what_is_not_utf8_is_taken_for_cp1252_and_that_is_noted() -> None:
    text, notes = decoded_as_guessed("a,b\ncaf\u00e9,1\n".encode("cp1252"), file="labels.csv")

    assert text == "a,b\ncaf\u00e9,1\n"
    (note,) = notes
    assert note == (
        "read as cp1252 (Western European), because it is not UTF-8: line 2 has a "
        '"\u00e9". If that is wrong, save it as UTF-8'
    )


def test_what_is_in_neither_encoding_is_refused() -> None:
    """0x81 has no meaning in cp1252."""
    with pytest.raises(InputError, match=r"byte 3 of the file \(0xe9\) is not UTF-8"):
        decoded_as_guessed(b"a,\xe9\x81", file="labels.csv")


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "labels.csv.gz").write_bytes(gzip.compress(b"a,b"))

    assert read_bytes(tmp_path / "labels.csv.gz", file="labels.csv.gz") == b"a,b"


@pytest.mark.parametrize(
    "content", [b"a,b", gzip.compress(b"a,b" * 100)[:-9]], ids=["not packed", "cut off"]
)
def test_a_file_that_cannot_be_unpacked_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "labels.csv.gz").write_bytes(content)

    with pytest.raises(InputError, match=r"labels\.csv\.gz: the file cannot be unpacked"):
        read_bytes(tmp_path / "labels.csv.gz", file="labels.csv.gz")


def test_nul_bytes_are_refused() -> None:
    assert refused(b"a,b\n1,\x00\n") == (
        "labels.csv:2: the line holds a NUL byte. Save the file as text, in UTF-8."
    )


def unreadable(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        read_bytes(path, file=path.name)
    return str(raised.value)


def test_a_file_without_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").touch()

    assert unreadable(tmp_path / "labels.csv") == (
        "labels.csv: the file is empty. Write at least the header, or remove the file."
    )


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert unreadable(tmp_path / "labels.csv") == (
        "labels.csv: there is no such file. Check the name, or create the file."
    )


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()

    assert unreadable(tmp_path / "labels") == (
        "labels: this is a folder. Name a file, or write labels/* for all files in it."
    )


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    """The refusal is raised here in place of the system's, since root may read every file."""
    (tmp_path / "labels.csv").touch()
    with patch.object(Path, "open", side_effect=PermissionError(13, "Permission denied")):
        assert unreadable(tmp_path / "labels.csv") == (
            "labels.csv: the file may not be read. Give yourself the permission to read it."
        )


def test_a_folder_without_permission_is_refused_and_not_left_out(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    denied = PermissionError(13, "Permission denied", "labels")
    with patch("os.scandir", side_effect=denied), pytest.raises(InputError) as raised:
        files_below(tmp_path, is_deep=True)

    assert str(raised.value) == (
        "labels: the folder may not be read. Give yourself the permission to read it."
    )


def test_a_disk_that_fails_is_reported_in_the_systems_words(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").touch()
    with patch.object(Path, "open", side_effect=OSError(5, "Input/output error")):
        assert unreadable(tmp_path / "labels.csv") == (
            "labels.csv: the file cannot be read (Input/output error). "
            "Check the disk, or copy the file again."
        )


def test_messages_name_files_relative_to_the_evaluation_folder() -> None:
    assert named(Path("/e/labels/a.csv"), folder=Path("/e")) == "labels/a.csv"
    assert named(Path("/other/a.csv"), folder=Path("/e")) == "/other/a.csv"


def test_the_fingerprint_changes_with_content_order_and_name(tmp_path: Path) -> None:
    first, second, renamed = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    first.write_text("1")
    second.write_text("2")
    renamed.write_text("1")

    fingerprint = source_fingerprint([first, second])

    assert source_fingerprint([first, second]) == fingerprint
    assert source_fingerprint([second, first]) != fingerprint
    assert source_fingerprint([renamed, second]) != fingerprint
    second.write_text("3")
    assert source_fingerprint([first, second]) != fingerprint


def test_a_file_that_changes_under_an_old_date_has_another_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_UNSURE_NS", 0)
    path = tmp_path / "labels.csv"
    path.write_text("1")
    os.utime(path, (1, 1))
    before = source_fingerprint([path])
    assert source_fingerprint([path]) == before
    path.write_text("2")
    os.utime(path, (1, 1))

    assert source_fingerprint([path]) != before


def test_the_fingerprint_names_every_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        source_fingerprint([tmp_path / "a.csv", tmp_path / "b.csv"])

    assert [str(error) for error in raised.value.exceptions] == [
        f"{tmp_path / name}: there is no such file. Check the name, or create the file."
        for name in ("a.csv", "b.csv")
    ]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "labels.csv"
    os.mkfifo(pipe)

    with pytest.raises(InputError, match=r"^labels.csv: this is a pipe, a socket or a device"):
        read_bytes(pipe, file="labels.csv")
    with pytest.raises(ExceptionGroup) as raised:
        source_fingerprint([pipe])
    assert "this is a pipe" in str(raised.value.exceptions[0])
