"""Every end of a verb: exit code, the one line on stderr, the one object on stdout."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clinqa import __version__
from clinqa.cli import command_line as module
from clinqa.cli import main
from clinqa.cli.outcome import Outcome
from clinqa.core.errors import (
    CheckFailed,
    ClinqaError,
    ConfigError,
    MissingExtra,
    ModelError,
    PrivacyError,
    SourceError,
)

SECRET = "Severe aortic stenosis of Mr Example"
KEYS = ["ok", "exit", "verb", "out", "counts", "warnings", "error"]

Verb = Callable[[list[str]], object]


def ends_with(monkeypatch: pytest.MonkeyPatch, verb: Verb) -> None:
    """Let every command line run this function."""
    monkeypatch.setattr(module, "invoke", verb)


def raises(exc: BaseException) -> Verb:
    def verb(arguments: list[str]) -> object:
        raise exc

    return verb


@pytest.mark.parametrize(
    ("exc", "code"),
    [
        (CheckFailed("two ids are the same"), 1),
        (ConfigError("two ids are the same"), 2),
        (SourceError("two ids are the same"), 3),
        (PrivacyError("two ids are the same"), 4),
        (ModelError("two ids are the same"), 5),
    ],
)
def test_our_errors_are_one_line_and_their_exit_code(
    exc: ClinqaError,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ends_with(monkeypatch, raises(exc))
    assert module.run(["verify", "x"]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: two ids are the same\n"


def test_a_missing_extra_names_the_pip_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, raises(MissingExtra("plots", "matplotlib")))
    assert module.run(["show", "x"]) == 2
    assert "pip install 'clinqa[plots]'" in capsys.readouterr().err


def test_an_interrupt_is_130_and_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, raises(KeyboardInterrupt()))
    assert module.run(["verify", "x"]) == 130
    assert capsys.readouterr().err == "error: interrupted; run the same command again\n"


def test_typers_own_exit_after_an_interrupt_says_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, lambda arguments: 130)
    assert module.run(["verify", "x"]) == 130
    assert "run the same command again" in capsys.readouterr().err


def test_an_unforeseen_exception_shows_class_and_place_and_no_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb(arguments: list[str]) -> object:
        Outcome("x", counts={SECRET: Fragile()}).record()
        raise AssertionError

    ends_with(monkeypatch, verb)
    assert module.run(["verify", "x"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "KeyError at clinqa/cli/outcome.py:" in captured.err
    assert "Traceback" not in captured.err
    assert "aortic" not in captured.err


class Fragile:
    """Fails with record text in its message, as libraries do."""

    def __str__(self) -> str:
        raise KeyError(SECRET)


def test_the_debug_switch_shows_the_traceback_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLINQA_DEBUG", "1")
    ends_with(monkeypatch, raises(ValueError(SECRET)))
    assert module.run(["verify", "x"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("warning: CLINQA_DEBUG is set; the traceback below may show text")
    assert "Traceback" in err


def test_a_system_error_tells_the_systems_words_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, raises(OSError(errno.ENOSPC, SECRET)))
    assert module.run(["verify", "x"]) == 1
    err = capsys.readouterr().err
    assert os.strerror(errno.ENOSPC) in err
    assert "aortic" not in err


def test_a_missing_package_names_the_extra_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, raises(ModuleNotFoundError("No module", name="matplotlib.figure")))
    assert module.run(["show", "x"]) == 2
    assert "matplotlib is missing: pip install 'clinqa[plots]'" in capsys.readouterr().err


def test_memory_that_runs_out_says_what_to_try(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, raises(MemoryError()))
    assert module.run(["verify", "x"]) == 1
    assert "--workers" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify"],
        ["verify", "--unknown"],
        ["verify", "x", "--source"],
        ["no-such-verb"],
        ["--no-such-option"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert module.run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert "--help" in captured.err


@pytest.mark.parametrize("place", [0, 1, 2])
def test_json_is_one_object_on_wrong_usage_too(
    place: int, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["verify", "--unknown"]
    arguments.insert(place, "--json")
    assert module.run(arguments) == 2
    record = json.loads(capsys.readouterr().out)
    assert list(record) == KEYS
    assert (record["ok"], record["exit"], record["verb"]) == (False, 2, "verify")
    assert "--unknown" in record["error"]


def test_json_is_one_object_on_an_error_and_names_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, raises(SourceError("no reports")))
    assert module.run(["verify", "x", "--out=there", "--json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {
        "ok": False,
        "exit": 3,
        "verb": "verify",
        "out": "there",
        "counts": {},
        "warnings": [],
        "error": "no reports",
    }
    assert captured.err == "error: no reports\n"


def test_json_keeps_stdout_to_one_object_whatever_a_verb_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def verb(arguments: list[str]) -> object:
        print("a library speaks")
        return Outcome("verify", Path("x"), {"read": 3, "rate": float("nan")}, ["mind"], "for eyes")

    ends_with(monkeypatch, verb)
    assert module.run(["verify", "x", "--json"]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert record["ok"] is True
    assert record["counts"] == {"read": 3, "rate": None}
    assert record["warnings"] == ["mind"]
    assert captured.err == "a library speaks\nwarning: mind\n"


def test_a_failed_check_keeps_its_text_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, lambda arguments: Outcome("verify", text="what", exit=1, error="broke"))
    assert module.run(["verify", "x"]) == 1
    assert capsys.readouterr() == ("what\n", "error: broke\n")


def test_markup_and_control_characters_are_shown_not_obeyed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends_with(monkeypatch, raises(ConfigError("no column '[red]x[/red]\x1b[2J'\nfound: a, b")))
    assert module.run(["verify", "x"]) == 2
    assert capsys.readouterr().err == ("error: no column '[red]x[/red]\\x1b[2J' found: a, b\n")


def test_version_and_help_are_exit_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert module.run(["--version"]) == 0
    assert capsys.readouterr().out == f"clinqa {__version__}\n"
    assert module.run([]) == 0
    assert "verify" in capsys.readouterr().out


def clinqa(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "clinqa", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = clinqa("--help")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # as `clinqa --help | true`
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_terminal_of_another_encoding_is_no_error() -> None:
    process = clinqa("verify", "caf\u00e9", "--no", environment={"PYTHONIOENCODING": "ascii"})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == b""
    assert err.startswith(b"error: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["verify", "--no", "--json"]])
def test_a_full_disk_behind_stdout_is_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "clinqa", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode != 0
    assert os.strerror(errno.ENOSPC) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m clinqa verify --no {closed}', sys.executable],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stdout + done.stderr


INTERRUPTED_VERB = """
import signal, sys
import clinqa.cli.command_line as module
def verb(arguments):
    print("ready", file=sys.stderr, flush=True)
    signal.pause()
module.invoke = verb
sys.exit(module.run(["verify", "x"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_a_running_verb_with_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_VERB], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert process.stderr.read() == "error: interrupted; run the same command again\n"
    process.stderr.close()


def test_an_interrupt_before_the_verb_is_known_is_told_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("clinqa.cli.command_line.verb_named_by", interrupted)
    assert main(["verify", "d"]) == 130
    assert capsys.readouterr().err == "error: interrupted; run the same command again\n"


def test_the_text_of_a_verb_runs_nothing_on_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Outcome("verify", text="one\ttwo\nthree\x1b[31m\x07\n")
    monkeypatch.setattr("clinqa.cli.command_line.invoke", lambda _: made)
    assert main(["verify", "d"]) == 0
    assert capsys.readouterr().out == "one\ttwo\nthree\\x1b[31m\\x07\n"
