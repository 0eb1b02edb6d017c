"""No module opens a connection of its own: everything passes the guard."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import clinqa

SOURCE = Path(clinqa.__file__).parent
GUARD = "privacy/egress.py"

NETWORK = {
    "_socket",
    "aiobotocore",
    "aiohttp",
    "anthropic",
    "boto3",
    "ftplib",
    "grpc",
    "http.client",
    "http.server",
    "httpcore",
    "httpx",
    "imaplib",
    "nntplib",
    "openai",
    "paramiko",
    "poplib",
    "pycurl",
    "requests",
    "smtplib",
    "socket",
    "socketserver",
    "telnetlib",
    "urllib.request",
    "urllib3",
    "websocket",
    "websockets",
    "xmlrpc",
}
# asyncio, ssl and friends open connections without any of these imports
CALLS = {
    "create_connection",
    "create_datagram_endpoint",
    "create_unix_connection",
    "open_connection",
    "open_unix_connection",
    "sock_connect",
    "urlopen",
    "urlretrieve",
    "hf_hub_download",
    "snapshot_download",
}
# what of botocore may be used: the signer and what it signs, never a client
BOTOCORE = {"botocore.auth", "botocore.awsrequest", "botocore.credentials"}


def names_imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            # import_module("x") and __import__("x")
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            first = node.args[0]
            if name in {"import_module", "__import__"} and isinstance(first, ast.Constant):
                yield str(first.value)


def faults(tree: ast.AST) -> set[str]:
    found = set()
    for name in names_imported(tree):
        if any(name == each or name.startswith(f"{each}.") for each in NETWORK):
            found.add(name)
        if name.split(".")[0] == "botocore" and not any(
            name == each or name.startswith(f"{each}.") for each in BOTOCORE
        ):
            found.add(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CALLS:
            found.add(node.attr)
    return found


def test_only_the_guard_can_reach_the_network() -> None:
    guilty = {}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        found = faults(ast.parse(path.read_text(encoding="utf-8"))) if name != GUARD else set()
        if found:
            guilty[name] = found
    assert guilty == {}


def test_the_guard_itself_is_seen_by_this_test() -> None:
    tree = ast.parse((SOURCE / GUARD).read_text(encoding="utf-8"))
    assert {"aiohttp", "socket"} <= faults(tree)


def test_ways_around_would_be_seen() -> None:
    for line in (
        "import urllib.request",
        "from urllib import request",
        "from http import client",
        "import requests.adapters",
        "import importlib\nimportlib.import_module('socket')",
        "__import__('httpx')",
        "import asyncio\nasyncio.open_connection('h', 1)",
        "import botocore.session",
        "from botocore import httpsession",
    ):
        assert faults(ast.parse(line)), line
    assert not faults(ast.parse("from botocore.auth import SigV4Auth\nimport urllib.parse"))
