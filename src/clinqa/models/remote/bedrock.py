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
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from clinqa.core.errors import ConfigError, MissingExtra
from clinqa.models.protocol import ModelOptions, Prompt, Sampling, system_and_turns
from clinqa.models.remote.finishes import finish_of, word_of
from clinqa.models.remote.model import RemoteModel
from clinqa.models.remote.refusals import SYSTEM
from clinqa.models.remote.reply import BadReply, Finish, Reply, joined, tokens
from clinqa.models.remote.wire import FOLDED, JSON, Secret, Wire, as_body, refuse_schema

__all__ = ["BedrockWire", "open_bedrock"]

SERVICE = "bedrock"
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
        super().__init__(options)
        self.name = f"bedrock:{model_id}"
        if _NO_SYSTEM.search(model_id):
            self.left_out[SYSTEM] = FOLDED
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

    @property
    def secrets(self) -> Sequence[str]:
        """The bearer token, or what a signature is made of."""
        kept = [self._bearer] if self._bearer else self._keys
        return [one.reveal() for one in kept if one is not None]

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
        system, turns = system_and_turns(self.turns(prompt))
        inference = {
            "maxTokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "topP": sampling.nucleus,
            "stopSequences": sampling.stop or None,
        }
        asked = {
            "messages": [{"role": turn.role, "content": [{"text": turn.text}]} for turn in turns],
            "inferenceConfig": self._kept(inference),
            "system": [{"text": system}] if system else None,
        }
        return as_body(self._kept(asked))

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
        finish = finish_of(reason, "bedrock")
        if finish is None or (content is None and finish is Finish.STOP):
            raise BadReply("is no answer of Converse; is --base-url right?")
        # reasoningContent is no answer; a guardrail may leave no message at all
        text = None if content is None else joined(content, lambda block: "text" in block)
        usage = value.get("usage")
        cached = ("cacheReadInputTokens", "cacheWriteInputTokens")
        return Reply(
            text or "",
            finish,
            tokens(usage, "inputTokens", *cached),
            tokens(usage, "outputTokens"),
            word_of(reason),
        )


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
