"""A headless Chromium, driven over its own protocol: what a page logs, fetches and focuses."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
T = TypeVar("T")


def chromium() -> str | None:
    """Where Chromium lies on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Tab:
    """One page. `events` holds everything the browser said of it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._next = 0
        self.events: list[dict[str, Any]] = []
        self._session = ""

    async def start(self) -> None:
        made = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            await self.call(f"{domain}.enable")

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        await self._socket.send_json(message)
        while True:
            answer = json.loads((await self._socket.receive(timeout=60)).data)
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    async def open(self, page: Path, *, width: int = 1400, dark: bool = False) -> None:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.call("Emulation.setEmulatedMedia", features=scheme)
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        await self.call("Page.navigate", url=page.resolve().as_uri())
        for _ in range(200):
            ready = await self.script("document.readyState + ' ' + location.href")
            if ready.startswith("complete file"):
                return
            await asyncio.sleep(0.05)
        raise RuntimeError("the page did not load")

    async def script(self, expression: str) -> Any:
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    async def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key],
            )

    async def picture(self, path: Path, top: float, height: float, width: int) -> None:
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        shot = await self.call(
            "Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    async def pdf(self, path: Path) -> None:
        made = await self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        path.write_bytes(base64.b64decode(made["data"]))

    def requests(self) -> list[str]:
        """Every address asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """What stands in the console: logged, thrown, refused by the policy."""
        said = {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"}
        return [json.dumps(e["params"])[:300] for e in self.events if e.get("method") in said]


def browse(work: Callable[[Tab], Awaitable[T]]) -> T:
    """Start a browser, do the work in a tab of it, and end that browser."""
    return asyncio.run(_browse(work))


async def _browse(work: Callable[[Tab], Awaitable[T]]) -> T:
    binary = chromium()
    assert binary is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [binary, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port_file = Path(profile, "DevToolsActivePort")
            for _ in range(300):
                if port_file.is_file() and "\n" in port_file.read_text():
                    break
                await asyncio.sleep(0.1)
            port, path = port_file.read_text().split("\n")[:2]
            async with aiohttp.ClientSession() as session:
                address = f"ws://127.0.0.1:{port}{path}"
                async with session.ws_connect(address, max_msg_size=0) as socket:
                    tab = Tab(socket)
                    await tab.start()
                    return await work(tab)
        finally:
            process.terminate()
            process.wait(timeout=30)
