"""Where text may go, and that nothing else is reached while it goes there."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError, ModelError, PrivacyError
from clinqa.core.records import DataClass
from clinqa.privacy.addresses import refuse_secrets
from clinqa.privacy.attestation import Attestation
from clinqa.privacy.egress import Answer, EgressGuard, Lost
from clinqa.privacy.egress_log import EgressLog
from loopback import Drop, Hang, Loopback, Raw, Reply, Request, reply

PUBLIC_ADDRESS = "203.0.113.7"  # TEST-NET-3: nobody's
TEXT = b'{"text": "Severe mitral regurgitation."}'

_reached: list[tuple[str, object]] | None = None


def _audit(event: str, args: tuple[object, ...]) -> None:
    """Every connection Python makes, by whatever library, passes here first."""
    if _reached is not None and event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        _reached.append((event, args[-1]))


sys.addaudithook(_audit)


@pytest.fixture
def reached() -> Iterator[list[tuple[str, object]]]:
    """The addresses connected to during a test."""
    global _reached
    _reached = []
    try:
        yield _reached
    finally:
        _reached = None


def only_loopback(reached: list[tuple[str, object]]) -> bool:
    places = [target for _, target in reached if isinstance(target, tuple)]
    return bool(places) and all(place[0] in ("127.0.0.1", "::1") for place in places)


def guard(
    data_class: DataClass = DataClass.RESTRICTED,
    answers: dict[str, list[list[str]]] | None = None,
    **given: object,
) -> EgressGuard:
    """A guard whose resolver gives these answers, one after the other; the last one stays."""
    left = {name: list(each) for name, each in (answers or {}).items()}

    def resolve(host: str, port: int) -> list[str]:
        if host not in left:
            raise OSError("no such name")
        return left[host].pop(0) if len(left[host]) > 1 else left[host][0]

    return EgressGuard(data_class, resolve=resolve, **given)  # type: ignore[arg-type]


def post(guard: EgressGuard, url: str, *, times: int = 1, timeout: float = 5.0) -> list[Answer]:
    async def run() -> list[Answer]:
        async with guard.session(2) as session:
            return [
                await session.post(url, TEXT, {}, model="openai:m", items=["a1"], timeout=timeout)
                for _ in range(times)
            ]

    return asyncio.run(run())


def attested(host: str, until: date = date(2099, 1, 1), **more: object) -> Attestation:
    return Attestation(host, "A. Steward", "evaluation", "none", until, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("data_class", [DataClass.RESTRICTED, DataClass.PHI])
@pytest.mark.parametrize(
    "host",
    [
        PUBLIC_ADDRESS,
        "8.8.8.8",
        "10.0.0.5",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "[::]",
        "[2001:db8::1]",
        "[::ffff:203.0.113.7]",
        "[fe80::1]",
        "models.example",
        "localhost.models.example",
        "mixed.example",
    ],
)
def test_private_text_goes_nowhere_but_loopback(
    host: str, data_class: DataClass, reached: list[tuple[str, object]]
) -> None:
    names = {
        "models.example": [[PUBLIC_ADDRESS]],
        "localhost.models.example": [[PUBLIC_ADDRESS]],
        "mixed.example": [["127.0.0.1", PUBLIC_ADDRESS]],
    }
    for scheme in ("http", "https"):
        with pytest.raises(PrivacyError) as refused:
            post(guard(data_class, names), f"{scheme}://{host}:8000/v1")
        assert refused.value.exit_code == 4
    assert reached == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.3.2.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "gpu.localhost"],
)
def test_loopback_in_every_spelling_is_this_machine(host: str) -> None:
    route = guard(answers={"localhost": [["127.0.1.1"]]}).route(f"http://{host}:8000/v1")
    assert route.loopback


def test_localhost_that_a_resolver_sends_elsewhere_is_refused() -> None:
    with pytest.raises(PrivacyError):
        guard(answers={"localhost": [[PUBLIC_ADDRESS]]}).route("http://localhost:8000/v1")


def test_a_name_nobody_attests_is_not_even_looked_up_for_private_text() -> None:
    looked_up: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        looked_up.append(host)
        return ["127.0.0.1"]

    for held in ([], [attested("old.example", date(2000, 1, 1))], [attested("other.example")]):
        for data_class in (DataClass.RESTRICTED, DataClass.PHI):
            with pytest.raises(PrivacyError):
                EgressGuard(data_class, held, resolve=resolve).route("https://old.example/v1")
    assert looked_up == []
    EgressGuard(DataClass.PUBLIC, resolve=resolve).route("https://old.example/v1")
    EgressGuard(DataClass.PHI, resolve=resolve).route("https://localhost/v1")
    assert looked_up == ["old.example", "localhost"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:0/v1", "https://models.example:00/v1"])
def test_port_0_is_refused_and_not_taken_for_the_standard_one(url: str) -> None:
    with pytest.raises(ConfigError, match="port 0"):
        guard(DataClass.PUBLIC).route(url)


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0x7f.0.0.1", "0177.0.0.1", "0x7f000001"])
def test_numbers_that_some_resolver_takes_for_an_address_are_no_host(host: str) -> None:
    with pytest.raises(ConfigError, match="four plain numbers"):
        guard().route(f"http://{host}/v1")


@pytest.mark.parametrize(
    "url",
    [
        "https://me:pw@models.example/v1",
        "https://sk-secret@models.example/v1",
        "https://models.example/v1?api_key=sk-secret",
        "https://models.example/v1?access_token=sk-secret",
        "ftp://models.example/v1",
        "models.example/v1",
        "https:///v1",
        "https://models.example\\@127.0.0.1/v1",
        "https://models.example/\r\nX: y",
        "https://models.example:99999/v1",
        "https://-bad-.example/v1",
    ],
)
def test_an_address_with_a_secret_or_two_meanings_is_a_usage_error(url: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        guard(DataClass.PUBLIC).route(url)
    assert wrong.value.exit_code == 2
    assert "sk-secret" not in str(wrong.value) and "pw" not in str(wrong.value).split()


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://me:pw@db.example/echo",
        "postgresql://db.example/echo?password=pw",
        "mysql+driver://me:@db.example/echo",
        "host=db.example user=me password=pw",
        "Server=db.example; Pwd=pw",
    ],
)
def test_a_dsn_with_a_password_is_a_usage_error(dsn: str) -> None:
    with pytest.raises(ConfigError, match="--dsn") as wrong:
        refuse_secrets(dsn, "--dsn")
    assert "pw" not in str(wrong.value)


def test_an_unknown_host_is_a_refusal_for_private_text_and_a_failure_for_other(
    tmp_path: Path,
) -> None:
    with pytest.raises(PrivacyError):
        guard().route("https://nowhere.example/v1")
    with pytest.raises(ModelError):
        guard(DataClass.PUBLIC).route("https://nowhere.example/v1")
    with pytest.raises(ModelError):
        guard(attestations=[attested("nowhere.example")]).route("https://nowhere.example/v1")


def test_a_name_is_resolved_once_so_rebinding_changes_nothing(
    reached: list[tuple[str, object]],
) -> None:
    with Loopback(lambda _: Reply(200, b"{}", {"Connection": "close"})) as server:
        names = {"box.example": [["127.0.0.1"], [PUBLIC_ADDRESS]]}
        kept = guard(answers=names, attestations=[attested("box.example")])
        url = f"http://box.example:{server.port}/v1"
        assert len(post(kept, url, times=3)) == 3
        assert len(post(kept, url)) == 1
        assert len(server.requests) == 4
    assert only_loopback(reached)


def test_a_redirect_is_refused_and_not_followed(reached: list[tuple[str, object]]) -> None:
    for status in (301, 302, 303, 307, 308):
        moved = Reply(status, b"", {"Location": f"http://{PUBLIC_ADDRESS}/v1"})
        with Loopback(lambda _, moved=moved: moved) as server:
            with pytest.raises(PrivacyError):
                post(guard(), server.url)
            with pytest.raises(ModelError):
                post(guard(DataClass.PUBLIC), server.url)
            assert len(server.requests) == 2
    assert only_loopback(reached)


def test_proxies_and_netrc_of_the_environment_are_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reached: list[tuple[str, object]]
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{PUBLIC_ADDRESS}:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret")
    with Loopback(lambda _: reply({})) as server:
        post(guard(), server.url)
        assert "authorization" not in server.requests[0].headers
        assert "proxy-authorization" not in server.requests[0].headers
    assert only_loopback(reached)


def test_cookies_are_neither_kept_nor_sent() -> None:
    with Loopback(lambda _: reply({}, Set_Cookie="track=1; Path=/")) as server:
        post(guard(), server.url, times=2)
        assert all("cookie" not in request.headers for request in server.requests)


def test_the_connector_refuses_what_no_route_was_judged_for(
    reached: list[tuple[str, object]],
) -> None:
    import aiohttp

    kept = guard(DataClass.PUBLIC, {"other.example": [["127.0.0.1"]]})

    async def around(url: str) -> None:
        async with aiohttp.ClientSession(connector=kept.connector()) as client:
            await client.get(url)

    for url in ("http://127.0.0.1:9/", f"http://{PUBLIC_ADDRESS}/", "http://other.example/"):
        with pytest.raises((PrivacyError, aiohttp.ClientError)):
            asyncio.run(around(url))
    assert reached == []


def test_an_attested_host_may_be_sent_text_until_its_day(tmp_path: Path) -> None:
    names = {"models.example": [[PUBLIC_ADDRESS]]}
    clock = [0.0]
    kept = guard(
        answers=names,
        attestations=[attested("models.example", date(1970, 1, 2))],
        log_path=tmp_path / "egress.jsonl",
        now=lambda: clock[0],
    )
    route = kept.route("https://models.example/v1")
    assert not route.loopback
    clock[0] = 2 * 86400 - 1
    kept.route("https://models.example/v1")
    clock[0] = 2 * 86400
    with pytest.raises(PrivacyError, match="ended on 1970-01-02"):
        kept.route("https://models.example/v1")
    with pytest.raises(PrivacyError, match="ended"):
        kept.check_still(route)


def test_an_attestation_is_for_its_host_and_port_and_no_other(tmp_path: Path) -> None:
    names = {name: [[PUBLIC_ADDRESS]] for name in ("models.example", "a.models.example")}
    held = [attested("models.example", port=8443)]
    kept = guard(answers=names, attestations=held, log_path=tmp_path / "e.jsonl")
    kept.route("https://models.example:8443/v1")
    for url in ("https://models.example/v1", "https://a.models.example:8443/v1"):
        with pytest.raises(PrivacyError):
            kept.route(url)


def test_unencrypted_traffic_off_the_machine_must_be_attested_too(tmp_path: Path) -> None:
    names = {"gpu.lan": [["10.1.2.3"]]}
    log = tmp_path / "e.jsonl"
    with pytest.raises(PrivacyError, match="unencrypted"):
        guard(answers=names, attestations=[attested("gpu.lan")], log_path=log).route(
            "http://gpu.lan:8000/v1"
        )
    wire = [attested("gpu.lan", plain_http=True)]
    guard(answers=names, attestations=wire, log_path=log).route(
        "http://gpu.lan:8000/v1", carries_key=True
    )
    with pytest.raises(ConfigError, match="key would cross"):
        guard(DataClass.PUBLIC, names, log_path=log).route(
            "http://gpu.lan:8000/v1", carries_key=True
        )


def test_nothing_is_sent_away_without_a_log() -> None:
    with pytest.raises(ConfigError, match="egress log"):
        guard(DataClass.PUBLIC, {"models.example": [[PUBLIC_ADDRESS]]}).route(
            "https://models.example/v1"
        )


def test_each_request_leaves_a_private_line_without_text(tmp_path: Path) -> None:
    log = tmp_path / "egress.jsonl"
    with Loopback(lambda _: reply({})) as server:
        box = {"box": [["127.0.0.1"]]}
        kept = guard(answers=box, attestations=[attested("box")], log_path=log)
        post(kept, f"http://box:{server.port}/v1", times=2)
        kept.close()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == 2
    assert lines[0] | {"time": ""} == {
        "time": "",
        "host": f"box:{server.port}",
        "address": "127.0.0.1",
        "model": "openai:m",
        "items": ["a1"],
        "bytes": len(TEXT),
    }
    assert "mitral" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_the_log_is_not_written_through_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "egress.jsonl").symlink_to(tmp_path / "elsewhere")
    with Loopback(lambda _: reply({})) as server, pytest.raises(ConfigError):
        post(guard(log_path=tmp_path / "egress.jsonl"), server.url)
    assert server.requests == []


def test_a_second_address_of_the_same_answer_is_tried_when_the_first_is_silent() -> None:
    with Loopback(lambda _: reply({})) as server:
        box = {"box": [["127.0.0.9", "127.0.0.1"]]}
        kept = guard(answers=box, attestations=[attested("box")])
        url = f"http://box:{server.port}/v1"
        assert post(kept, url)[0].status == 200
        assert kept.route(url).address == "127.0.0.1"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Drop(), "network"),
        (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), "network"),
        (Raw(b"no http at all\r\n\r\n"), "bad_output"),
        (Reply(200, b"x", {"Content-Encoding": "gzip"}), "bad_output"),
        (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{"), "bad_output"),
    ],
)
def test_a_request_without_a_whole_answer_is_lost_of_a_kind(answer: object, kind: str) -> None:
    with Loopback(lambda _: answer) as server, pytest.raises(Lost) as lost:  # type: ignore[arg-type,return-value]
        post(guard(), server.url)
    assert lost.value.kind == kind


def test_an_endless_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clinqa.privacy.egress.MAX_ANSWER", 1000)
    endless = Raw(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000)
    with Loopback(lambda _: endless) as server, pytest.raises(Lost) as lost:
        post(guard(), server.url)
    assert lost.value.kind == "bad_output"


def test_a_server_that_says_nothing_is_a_timeout() -> None:
    with Loopback(lambda _: Hang()) as server, pytest.raises(Lost) as lost:
        post(guard(), server.url, timeout=0.1)
    assert lost.value.kind == "timeout"


def test_a_port_nobody_listens_on_is_a_network_failure() -> None:
    with Loopback(lambda _: reply({})) as server:
        url = server.url
    with pytest.raises(Lost) as lost:
        post(guard(), url)
    assert lost.value.kind == "network"


def test_certificates_are_verified(tmp_path: Path) -> None:
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {key} "
    made += f"-out {certificate} -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([tool, *made.split(" ")], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with Loopback(lambda _: reply({}), tls=tls) as server:
        with pytest.raises(ModelError, match="certificate"):
            post(guard(), server.url)
        assert server.requests == []
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(certificate))
            assert post(guard(), server.url)[0].status == 200


def test_the_target_is_sent_as_it_is_written() -> None:
    with Loopback(lambda _: reply({})) as server:
        post(guard(), f"{server.url}/model/arn%3Aaws%2Fx/converse?api-version=2024-10-21")
    assert server.requests[0].target == "/model/arn%3Aaws%2Fx/converse?api-version=2024-10-21"


def test_no_error_shows_a_header(capsys: pytest.CaptureFixture[str]) -> None:
    def failing(request: Request) -> Raw:
        return Raw(b"HTTP/1.1 banana\r\n\r\n")

    async def run(url: str) -> None:
        async with guard().session() as session:
            headers = {"Authorization": "Bearer sk-very-secret"}
            await session.post(url, TEXT, headers, model="m", items=[], timeout=5)

    with Loopback(failing) as server, pytest.raises(Lost) as lost:
        asyncio.run(run(server.url))
    assert lost.value.__cause__ is None and lost.value.__suppress_context__
    assert "sk-very-secret" not in repr(lost.value)


def test_a_line_that_was_torn_is_closed_and_the_next_one_begins_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "egress.jsonl"
    log = EgressLog(path)
    log.add(0.0, "h", "127.0.0.1", "m", ["i1"], 10)
    log.close()
    whole = path.read_bytes()
    for torn in (b"", whole[:-1], whole[: len(whole) // 2], b'{"time":"\xe2'):
        path.write_bytes(whole + torn)
        log.add(1.0, "h", "127.0.0.1", "m", ["i2"], 10)
        log.close()
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["items"] for line in lines if "items" in line] == [["i1"], ["i2"]]
        assert len(lines) == 2 + bool(torn)
