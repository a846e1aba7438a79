import os
import signal
import subprocess
import sys
from pathlib import Path

from eval_assets.labelling.durable import append_lines, locked, replace_file


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_file(path, b"first")
    replace_file(path, b"second", mode=0o600)

    assert path.read_bytes() == b"second"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_what_a_crash_left_behind_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / ".file.tmp").write_bytes(b"half")
    replace_file(tmp_path / "file", b"whole")

    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_line_that_a_crash_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    append_lines(path, ['{"a": 1}'])
    with path.open("a") as file:
        file.write('{"b": ')
    append_lines(path, ['{"c": 3}'])

    assert path.read_text() == '{"a": 1}\n{"b": \n{"c": 3}\n'


def test_a_lock_ends_with_the_process_that_held_it(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from eval_assets.labelling.durable import locked\n"
        "with locked(Path(sys.argv[1])):\n"
        "    print('held', flush=True); time.sleep(600)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()

    with locked(tmp_path):
        pass
