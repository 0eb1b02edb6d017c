"""A small HTTP/1.1 server on loopback that answers exactly what a test wants, byte for byte."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    method: str
    target: str  # as it stood in the request line
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Raw:
    """These bytes, then the connection is closed."""

    data: bytes


class Hang:
    """No answer, for as long as the server lives."""


class Drop:
    """The connection is closed without a byte."""


Handler = Callable[[Request], "Reply | Raw | Hang | Drop"]


def reply(value: object, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **named})


class Loopback:
    """`with Loopback(handler) as server:` serves from a thread of its own; `server.requests`."""

    def __init__(
        self,
        handler: Handler,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.handler = handler
        self.host, self.port, self._tls = host, port, tls
        self.requests: list[Request] = []
        self.connections = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self._tls else ''}://{host}:{self.port}"

    def __enter__(self) -> Loopback:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._open: set[asyncio.StreamWriter] = set()
        server = await asyncio.start_server(
            self._connection, self.host, self.port, ssl=self._tls, reuse_address=True
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for writer in self._open:
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.add(writer)
        try:
            while request := await _read(reader):
                self.requests.append(request)
                answer = self.handler(request)
                if isinstance(answer, Hang):
                    await self._stop.wait()
                if not isinstance(answer, Reply):
                    if isinstance(answer, Raw):
                        writer.write(answer.data)
                        await writer.drain()
                    return
                writer.write(_written(answer))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body)


def _written(answer: Reply) -> bytes:
    headers = {"Content-Length": str(len(answer.body)), **answer.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {answer.status} Said\r\n{lines}\r\n".encode() + answer.body
