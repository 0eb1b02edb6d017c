"""Azure OpenAI: chat completions of a deployment.

    POST {endpoint}/openai/deployments/{deployment}/chat/completions?api-version=…   api-key: KEY

The endpoint comes with `--base-url` or AZURE_OPENAI_ENDPOINT, the key from AZURE_OPENAI_API_KEY.
`--api-version v1` uses the newer path without versions. Azure's content filter answers 400 for a
prompt (recorded as content_filter) and `finish_reason: content_filter` for an answer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import ModelOptions
from clinqa.models.remote.chat import ChatWire
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.wire import JSON

__all__ = ["AzureWire", "open_azure"]

API_VERSION = "2024-10-21"
"""The last one of the dated, generally available versions of the inference API."""


def open_azure(deployment: str, options: ModelOptions) -> RemoteModel:
    """The model called `azure:DEPLOYMENT`."""
    return RemoteModel(AzureWire(deployment, options), options)


class AzureWire(ChatWire):
    """One deployment."""

    def __init__(self, deployment: str, options: ModelOptions) -> None:
        super().__init__(deployment, options, limit="max_tokens")
        self.name = f"azure:{deployment}"
        self.model = ""  # a deployment has whatever name, and replies name the model behind it
        self.take_key(options.api_key_env or "AZURE_OPENAI_API_KEY")
        endpoint = options.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT", "").strip()
        if not endpoint:
            raise ConfigError(
                f"{self.name}: give --base-url https://RESOURCE.openai.azure.com "
                "(or set AZURE_OPENAI_ENDPOINT)"
            )
        base = endpoint.rstrip("/").removesuffix("/v1").removesuffix("/openai")
        version = options.api_version or API_VERSION
        if version == "v1":
            self.url = f"{base}/openai/v1/chat/completions"
        else:
            self._asked_for = None  # the path names it
            place = f"{base}/openai/deployments/{quote(deployment, safe='')}"
            self.url = f"{place}/chat/completions?api-version={quote(version, safe='')}"

    def headers(self, body: bytes) -> Mapping[str, str]:
        """The resource's key."""
        return {"Content-Type": JSON, "api-key": self._secret.reveal() if self._secret else ""}
