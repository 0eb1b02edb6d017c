"""Amazon Bedrock's Converse, which covers Titan, Nova, Claude, Cohere, Llama and Mistral alike.

    POST https://bedrock-runtime.{region}.amazonaws.com/model/{modelId}/converse

signed with SigV4 (service `bedrock`) from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, if set,
AWS_SESSION_TOKEN; or with the bearer token of AWS_BEARER_TOKEN_BEDROCK. botocore's signer computes
the signature (extra `cloud`) and nothing else of it is used: the bytes go through our own client.
A model id may be an ARN, so all of it is percent-encoded into one segment of the path, and the
signature covers that segment encoded once more, as SigV4 wants.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from clinqa.core.errors import ConfigError, MissingExtra
from clinqa.models.protocol import ModelOptions, Prompt, Sampling, folded, system_and_turns
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.wire import (
    JSON,
    BadReply,
    Reply,
    Secret,
    ServerFault,
    Wire,
    as_body,
    given,
    joined,
    omitted,
    refuse_schema,
    tokens,
)

__all__ = ["BedrockWire", "open_bedrock"]

SERVICE = "bedrock"
_FINISH = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
_MALFORMED = {"malformed_model_output", "malformed_tool_use"}
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d{1,2}")
# Converse refuses a system text for these (its table of models and features): it goes before the
# first question instead.
_NO_SYSTEM = re.compile(
    r"amazon\.titan-|cohere\.command-(text|light)|mistral\.(mistral-7b|mixtral-8x7b)-instruct|"
    r"ai21\.j2-"
)


def open_bedrock(model_id: str, options: ModelOptions) -> RemoteModel:
    """The model called `bedrock:MODEL_ID`."""
    return RemoteModel(BedrockWire(model_id, options), options)


class BedrockWire(Wire):
    """One model of one region."""

    def __init__(self, model_id: str, options: ModelOptions) -> None:
        refuse_schema(options, f"bedrock:{model_id}")
        self.name = f"bedrock:{model_id}"
        self._omit = omitted(options)
        self._fold = _NO_SYSTEM.search(model_id) is not None
        region = options.region or os.environ.get("AWS_REGION", "")
        region = region or os.environ.get("AWS_DEFAULT_REGION", "")
        if not _REGION.fullmatch(region):
            raise ConfigError(f"{self.name}: give --region, such as us-east-1 (or set AWS_REGION)")
        domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
        base = options.base_url or f"https://bedrock-runtime.{region}.{domain}"
        self.url = f"{base.rstrip('/')}/model/{quote(model_id, safe='')}/converse"
        self._bearer = Secret.of(options.api_key_env or "AWS_BEARER_TOKEN_BEDROCK")
        self._keys = [
            Secret.of(name)
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        ]
        self.key = (
            self._bearer.variable
            if self._bearer
            else options.api_key_env or "AWS_ACCESS_KEY_ID (with its secret and session token)"
        )
        self._named = options.api_key_env
        self._signer: _Signer | None = None
        self._region = region

    @property
    def has_key(self) -> bool:
        """A signature is no key that a listener could use; a bearer token is."""
        return self._bearer is not None

    def check_key(self) -> None:
        """ConfigError if there is nothing to sign with; MissingExtra without the signer."""
        if self._bearer is not None:
            return
        if self._named:
            raise ConfigError(f"{self.name}: set the environment variable {self._named}")
        access, secret, token = self._keys
        if access is None or secret is None:
            raise ConfigError(
                f"{self.name}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and "
                "AWS_SESSION_TOKEN if they are temporary), or AWS_BEARER_TOKEN_BEDROCK"
            )
        self._signer = _Signer(access, secret, token, self._region)

    def body(self, prompt: Prompt, sampling: Sampling) -> bytes:
        """The request for one prompt."""
        messages = folded(prompt.messages) if self._fold else prompt.messages
        system, turns = system_and_turns(messages)
        inference = {
            "maxTokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "topP": sampling.nucleus,
            "stopSequences": sampling.stop or None,
        }
        asked = {
            "messages": [{"role": turn.role, "content": [{"text": turn.text}]} for turn in turns],
            "inferenceConfig": given(inference, self._omit),
            "system": [{"text": system}] if system else None,
        }
        return as_body(asked)

    def headers(self, body: bytes) -> Mapping[str, str]:
        """A signature over this body, good for some minutes; or the bearer token."""
        if self._bearer is not None:
            return {"Content-Type": JSON, "Authorization": f"Bearer {self._bearer.reveal()}"}
        if self._signer is None:
            self.check_key()
        assert self._signer is not None
        return self._signer.headers(self.url, body)

    def read(self, value: Mapping[str, Any], prompt: Prompt) -> Reply:
        """The model's answer out of a 200."""
        output = value.get("output")
        message = output.get("message") if isinstance(output, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        reason = value.get("stopReason")
        if not isinstance(reason, str) or reason in _MALFORMED:
            raise BadReply
        text = joined(content, lambda block: "text" in block)  # reasoningContent is no answer
        usage = value.get("usage")
        return Reply(
            text or "",
            _FINISH.get(reason, "stop"),
            tokens(usage, "inputTokens"),
            tokens(usage, "outputTokens"),
        )

    def said(self, value: Mapping[str, Any], headers: Mapping[str, str]) -> ServerFault:
        """The class in a header (`ThrottlingException:http://…`), the message in the body."""
        code = headers.get("x-amzn-errortype") or value.get("__type") or ""
        code = str(code).split(":")[0].rpartition("#")[2]
        return ServerFault(code, "", str(value.get("message", value.get("Message", ""))))

    def adapt(self, said: ServerFault, body: bytes) -> bool:
        """Models that take no system text, and that the table above does not know."""
        if said.code == "ValidationException" and "system" in said.message.casefold():
            if b'"system":[{' in body:
                self._fold = True
                return True
        return False


class _Signer:
    """botocore's SigV4, with our keys."""

    def __init__(self, access: Secret, secret: Secret, token: Secret | None, region: str) -> None:
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.credentials import Credentials
        except ImportError:
            raise MissingExtra("cloud", "botocore's signer") from None
        # At DEBUG it writes what it signs, and a session token is part of that.
        logging.getLogger("botocore.auth").setLevel(logging.CRITICAL)
        keys = Credentials(access.reveal(), secret.reveal(), token.reveal() if token else None)
        self._auth = SigV4Auth(keys, SERVICE, region)
        self._request = AWSRequest

    def headers(self, url: str, body: bytes) -> Mapping[str, str]:
        request = self._request("POST", url, data=body, headers={"Content-Type": JSON})
        self._auth.add_auth(request)
        return dict(request.headers.items())
