"""The response cache: right keys, private files, nothing for phi."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass
from clinqa.models.cache import FILE, ResponseCache, open_cache
from clinqa.models.protocol import Message, Output, Sampling
from clinqa.models.remote.openai import OpenAIWire
from loopback import Loopback, Reply, reply
from remote_asking import SECRET_TEXT, answers, options, prompt, prompts, remote

GOOD = Output("Mild.", "stop", 10, 2, 0.5)


def test_an_answer_comes_back_and_an_error_is_not_kept(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c", ["openai:m"])
    key = cache.key(prompt(), Sampling())
    assert cache.get(key) is None
    cache.put(key, replace(GOOD, finish_reason="error", error="server"))
    assert cache.get(key) is None
    cache.put(key, GOOD)
    cache.close()
    again = ResponseCache(tmp_path / "c", ["openai:m"])
    assert again.get(key) == replace(GOOD, seconds=0.0, cached=True)
    again.close()


def test_whatever_changes_the_answer_changes_the_key(tmp_path: Path) -> None:
    cache, other = (ResponseCache(tmp_path, [name]) for name in ("openai:m", "openai:n"))
    one, greedy = prompt(), Sampling()
    keys = [
        cache.key(one, greedy),
        other.key(one, greedy),
        cache.key(replace(one, seed=8), greedy),
        cache.key(replace(one, repeat=1), greedy),
        cache.key(replace(one, messages=(*one.messages, Message("user", "?"))), greedy),
        cache.key(one, Sampling(temperature=0.1)),
        cache.key(one, Sampling(top_p=0.9)),
        cache.key(one, Sampling(max_tokens=9)),
        cache.key(one, Sampling(stop=("\n",))),
    ]
    assert len(set(keys)) == len(keys)
    assert cache.key(replace(one, item_id="other"), greedy) == keys[0]


def test_its_files_are_private_and_hold_no_prompt(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    cache = ResponseCache(folder, ["m"])
    cache.put(cache.key(prompt(), Sampling()), GOOD)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
        assert SECRET_TEXT.encode() not in path.read_bytes()
    cache.close()


def test_phi_is_cached_only_when_asked_for(tmp_path: Path) -> None:
    assert open_cache(None, DataClass.PUBLIC, []) is None
    assert open_cache(tmp_path, DataClass.PHI, []) is None
    assert not list(tmp_path.iterdir())
    cache = open_cache(tmp_path, DataClass.PHI, [], phi_allowed=True)
    assert cache is not None
    cache.close()


def test_a_damaged_file_or_a_link_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database" * 100)
    with pytest.raises(ConfigError, match="delete it"):
        ResponseCache(tmp_path, [])
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError):
        ResponseCache(tmp_path / "d", [])


def test_a_second_run_asks_only_what_the_first_did_not_get(tmp_path: Path) -> None:
    def handler(request: object) -> Reply:
        return reply({"choices": [{"message": {"content": "Mild."}, "finish_reason": "stop"}]})

    with Loopback(handler) as server:
        wire = OpenAIWire("m", options(base_url=server.url))
        given = {"base_url": server.url, "cache_dir": tmp_path}
        answers(remote(wire, **given), prompts(5))
        outputs = answers(remote(wire, **given), prompts(9))
        assert len(server.requests) == 9
        answers(remote(wire, **given), prompts(5), temperature=0.5)
        assert len(server.requests) == 14
    assert {output.text for output in outputs} == {"Mild."}
