"""The six properties of kb_answer, against botocore's stubber and an endpoint with the real wire format."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ProfileNotFound
from botocore.stub import Stubber
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.remote.bedrock_kb import (
    DEFAULT_REGION,
    ErrorType,
    KbConfig,
    KnowledgeBaseError,
    MissingSetting,
    ask,
    explain,
    generation_request,
    load_config,
    parse_generation,
    parse_retrieval,
    retrieval_request,
)
from tests.knowledge.remote.bedrock_server import ANSWER, PASSAGE, RESULTS, bedrock_server

MODEL = "arn:aws:bedrock:ap-northeast-1::foundation-model/example"
KINDS = {
    "ThrottlingException": "ServiceError",
    "AccessDeniedException": "AuthenticationError",
    "ResourceNotFoundException": "NotFoundError",
}
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
identifiers = st.from_regex(r"[0-9A-Z]{10}", fullmatch=True)
counts = st.integers(min_value=1, max_value=100)
locations = st.fixed_dictionaries({"type": st.just("S3"), "s3Location": st.fixed_dictionaries({"uri": words})})
references = st.fixed_dictionaries({"content": st.fixed_dictionaries({"text": words}), "location": locations})
results = st.fixed_dictionaries(
    {"content": st.fixed_dictionaries({"text": words}), "location": locations, "score": st.floats(0, 1)}
)


def config_with(**changes: str) -> KbConfig:
    return KbConfig(**{"aws_region": DEFAULT_REGION, "kb_id": "KB12345678", **changes})


@settings(max_examples=100)
@given(region=words, kb_id=words, model=words)
def test_property_1_settings_are_read_exactly(region, kb_id, model):
    environ = {"AWS_REGION": region, "BEDROCK_KB_ID": kb_id, "BEDROCK_MODEL_ARN": model}
    config = load_config(environ)
    assert (config.aws_region, config.kb_id, config.model_arn) == (region, kb_id, model)
    del environ["AWS_REGION"]
    assert load_config(environ).aws_region == "ap-northeast-1"


@settings(max_examples=100)
@given(present=st.sets(st.sampled_from(["AWS_REGION", "BEDROCK_KB_ID", "BEDROCK_MODEL_ARN"])), value=words)
def test_property_2_what_is_missing_is_named(present, value):
    environ = dict.fromkeys(present, value)
    missing = [name for name in ("BEDROCK_KB_ID", "BEDROCK_MODEL_ARN") if name not in present]
    if missing:
        with pytest.raises(ValueError, match=missing[0]):
            load_config(environ, generate=True)
    else:
        assert load_config(environ, generate=True).kb_id == value


@settings(max_examples=100)
@given(text=words, groups=st.lists(st.lists(references, max_size=3), max_size=3), found=st.lists(results, max_size=5))
def test_property_3_every_field_of_an_answer_is_read(text, groups, found):
    response = {"output": {"text": text}, "citations": [{"retrievedReferences": group} for group in groups]}
    answer = parse_generation(response)
    assert answer.answer == text
    assert [(item.content, item.location, item.score) for item in answer.citations] == [
        (reference["content"]["text"], reference["location"], None) for group in groups for reference in group
    ]
    retrieved = parse_retrieval({"retrievalResults": found})
    assert retrieved.answer is None
    assert [(item.content, item.location, item.score) for item in retrieved.citations] == [
        (result["content"]["text"], result["location"], result["score"]) for result in found
    ]


@settings(max_examples=100)
@given(query=words, count=counts, kb_id=identifiers)
def test_property_4_a_request_has_all_parameters(query, count, kb_id):
    config = config_with(kb_id=kb_id, model_arn=MODEL)
    wanted = {"vectorSearchConfiguration": {"numberOfResults": count}}
    assert retrieval_request(config, query, count) == {
        "knowledgeBaseId": kb_id,
        "retrievalQuery": {"text": query},
        "retrievalConfiguration": wanted,
    }
    generation = generation_request(config, query, count)
    asked = generation["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert generation["input"] == {"text": query}
    assert asked == {"knowledgeBaseId": kb_id, "modelArn": MODEL, "retrievalConfiguration": wanted}


class Untouchable:
    """A client that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was called")


@settings(max_examples=100)
@given(blank=st.text(alphabet=" \t\r\n\u3000", max_size=20))
def test_property_5_a_blank_question_is_refused_without_a_call(blank):
    with pytest.raises(KnowledgeBaseError) as caught:
        ask(config_with(), query=blank, client=Untouchable())
    assert caught.value.error_type == ErrorType.VALIDATION


@settings(max_examples=100)
@given(
    message=words, code=st.sampled_from(["ThrottlingException", "AccessDeniedException", "ResourceNotFoundException"])
)
def test_property_6_the_original_error_is_kept(message, code):
    error = ClientError({"Error": {"Code": code, "Message": message}}, "Retrieve")

    class Failing:
        def retrieve(self, **_parameters: object) -> None:
            raise error

    with pytest.raises(KnowledgeBaseError) as caught:
        ask(config_with(), query="問い", client=Failing())
    assert message in caught.value.message
    assert caught.value.original == f"ClientError: {error}"
    assert caught.value.as_dict()["error_type"] == KINDS[code]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NoCredentialsError(), "AuthenticationError"),
        (ProfileNotFound(profile="無い"), "AuthenticationError"),
        (EndpointConnectionError(endpoint_url="https://example.invalid"), "ServiceError"),
    ],
)
def test_errors_below_the_api_have_a_kind_too(error, kind):
    assert explain(error, config_with()).error_type == kind


@pytest.mark.parametrize("count", [0, 101, -4])
def test_a_count_that_the_api_would_refuse_is_refused_here(count):
    with pytest.raises(KnowledgeBaseError, match="from 1 to 100"):
        ask(config_with(), query="問い", max_results=count, client=Untouchable())


def test_generation_needs_a_model_that_is_named():
    with pytest.raises(MissingSetting, match="BEDROCK_MODEL_ARN"):
        ask(config_with(), query="問い", generate=True, client=Untouchable())


def test_the_stubbed_api_accepts_the_requests():
    """The stubber checks parameters and answers against the service's own model."""
    client = boto3.client(
        "bedrock-agent-runtime", region_name=DEFAULT_REGION, aws_access_key_id="x", aws_secret_access_key="y"
    )
    config = config_with(model_arn=MODEL)
    with Stubber(client) as stubber:
        stubber.add_response("retrieve", {"retrievalResults": RESULTS}, retrieval_request(config, "問い", 4))
        answer = ask(config, query="問い", generate=False, client=client)
        assert [item.score for item in answer.citations] == [0.82, 0.41]
        told = {"output": {"text": ANSWER}, "sessionId": "s-1", "citations": [{"retrievedReferences": [PASSAGE]}]}
        stubber.add_response("retrieve_and_generate", told, generation_request(config, "問い", 2))
        assert ask(config, query="問い", max_results=2, client=client).answer == ANSWER


def test_the_wire_format_is_understood(monkeypatch):
    with bedrock_server() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", server.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
        answer = ask(config_with(), query="大項目は？", max_results=3)
        assert [item.content for item in answer.citations] == [PASSAGE["content"]["text"]] * 2
        assert server.requests[0]["path"] == "/knowledgebases/KB12345678/retrieve"
        assert ask(config_with(model_arn=MODEL), query="大項目は？").answer == ANSWER
        server.failure = (404, "ResourceNotFoundException")
        with pytest.raises(KnowledgeBaseError, match="BEDROCK_KB_ID") as caught:
            ask(config_with(), query="大項目は？")
        assert caught.value.error_type == ErrorType.NOT_FOUND
        server.failure = (403, "AccessDeniedException")
        with pytest.raises(KnowledgeBaseError) as caught:
            ask(config_with(), query="大項目は？")
        assert caught.value.error_type == ErrorType.AUTHENTICATION
