import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from knowledge.embedders.base import (
    FOR_PASSAGES,
    FOR_QUESTIONS,
    Embedder,
    EmbedderUnavailable,
    EmbeddingInputEmpty,
    EmbeddingInputTooLong,
    EmbeddingRequestRefused,
    EmbeddingResponseInvalid,
    EmbeddingServerBusy,
    estimate_tokens,
)
from knowledge.embedders.openai_compatible import OpenAICompatibleEmbedder

KEY = "sk-test-0123456789"
Answer = Callable[["Handler", dict], None]


def vector_of(text: str) -> list[float]:
    """A vector of 8 numbers that depends on the text only, of any norm."""
    return np.random.default_rng(list(text.encode())).normal(size=8).tolist()


def answer_well(handler: "Handler", body: dict) -> None:
    items = [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(body["input"])]
    handler.send_json(200, {"object": "list", "data": items[::-1], "model": body["model"]})


def answer_status(status: int, *, message: str = "no", **headers: str) -> Answer:
    def answer(handler: "Handler", body: dict) -> None:
        handler.send_json(status, {"error": {"message": message}}, **headers)

    return answer


def answer_json(content: object) -> Answer:
    return lambda handler, body: handler.send_json(200, content)


def cut_connection(handler: "Handler", body: dict) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


class Handler(BaseHTTPRequestHandler):
    """Speaks OpenAI's embeddings protocol; answers from the server's script, then well."""

    protocol_version = "HTTP/1.1"
    server: "EmbeddingServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers["Authorization"], body))
        answer = self.server.script.pop(0) if self.server.script else answer_well
        answer(self, body)

    def send_json(self, status: int, content: object, **headers: str) -> None:
        payload = json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


class EmbeddingServer(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str | None, dict]] = []
        self.script: list[Answer] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def delays() -> list[float]:
    """What the embedder waited between attempts, in seconds; nothing really waits."""
    return []


@pytest.fixture
def make(server: EmbeddingServer, delays: list[float]) -> Iterator[Callable[..., OpenAICompatibleEmbedder]]:
    made = []

    def make(**options) -> OpenAICompatibleEmbedder:
        options = {"base_url": server.url, "model": "text-embedding-test", "api_key": KEY, **options}
        made.append(OpenAICompatibleEmbedder(**options, sleep=delays.append))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


def test_passages_are_sent_in_batches_and_come_back_in_order(server, make) -> None:
    embedder = make(batch_size=2)
    texts = ["一つ目", "二つ目", "三つ目"]

    vectors = embedder.embed_passages(texts)

    expected = np.array([vector_of(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert [body["input"] for _, _, body in server.requests] == [texts[:2], texts[2:]]
    assert {(path, key) for path, key, _ in server.requests} == {("/v1/embeddings", f"Bearer {KEY}")}


def test_it_is_an_embedder_that_learns_its_dimension_from_the_server(make) -> None:
    embedder = make()

    assert isinstance(embedder, Embedder)
    assert embedder.dimension == 8
    assert embedder.embed_passages([]).shape == (0, 8)


def test_prefixes_and_nfkc_are_applied_before_sending(server, make) -> None:
    embedder = make(model="multilingual-e5-large")

    embedder.embed_query("ﾊﾟｿｺﾝ")
    embedder.embed_passages(["①\ud800"])

    assert [body["input"] for _, _, body in server.requests] == [["query: パソコン"], ["passage: 1\ufffd"]]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_after_a_growing_delay(server, make, delays, status: int) -> None:
    server.script += [answer_status(status), answer_status(status)]

    (vector,) = make().embed_passages(["申請"])

    assert vector.shape == (8,)
    assert len(delays) == 2
    assert 0.25 <= delays[0] <= 0.5 <= delays[1] <= 1.0


def test_the_delay_a_server_asks_for_is_kept_within_a_limit(server, make, delays) -> None:
    server.script += [answer_status(429, Retry_After="7"), answer_status(429, Retry_After="86400")]

    make().embed_passages(["申請"])

    assert delays == [7.0, FOR_PASSAGES.longest_delay_s]


def test_a_cut_connection_is_tried_again(server, make, delays) -> None:
    server.script += [cut_connection]

    assert make().embed_query("申請").shape == (8,)
    assert len(delays) == 1


def test_a_server_that_stays_busy_gives_a_retryable_error(server, make, delays) -> None:
    attempts = FOR_PASSAGES.attempts
    server.script += [answer_status(503)] * attempts

    with pytest.raises(EmbeddingServerBusy, match=rf"failed {attempts} times, last with: HTTP 503") as caught:
        make().embed_passages(["申請"])

    assert caught.value.retryable
    assert len(delays) == attempts - 1


def test_a_question_is_given_up_sooner_than_passages_are(server, make, delays) -> None:
    server.script += [answer_status(429, Retry_After="600")] * FOR_QUESTIONS.attempts

    with pytest.raises(EmbeddingServerBusy, match="failed 2 times, last with: HTTP 429"):
        make().embed_query("申請")

    assert delays == [FOR_QUESTIONS.longest_delay_s]


def test_after_a_question_without_an_answer_the_server_is_left_alone_but_for_passages(server, make) -> None:
    embedder = make()
    server.script += [answer_status(503)] * FOR_QUESTIONS.attempts
    for _question in range(3):
        with pytest.raises(EmbeddingServerBusy, match="HTTP 503"):
            embedder.embed_query("申請")

    assert len(server.requests) == FOR_QUESTIONS.attempts
    assert embedder.embed_passages(["申請"]).shape == (1, 8)


def test_when_the_pause_is_over_questions_are_asked_again(server, make) -> None:
    embedder = make(pause_s=0)
    server.script += [answer_status(503)] * FOR_QUESTIONS.attempts
    with pytest.raises(EmbeddingServerBusy):
        embedder.embed_query("申請")

    assert embedder.embed_query("申請").shape == (8,)


def test_a_server_that_is_not_there_gives_a_retryable_error(make) -> None:
    with pytest.raises(EmbeddingServerBusy, match="ConnectError"):
        make(base_url="http://127.0.0.1:1/v1").embed_query("申請")


def test_a_refused_key_is_not_tried_again_and_not_shown(server, make) -> None:
    server.script += [answer_status(401, message=f"Incorrect API key: {KEY}")]

    with pytest.raises(EmbedderUnavailable, match="refused the API key") as caught:
        make().embed_query("申請")

    assert len(server.requests) == 1
    assert KEY not in caught.value.text.en + caught.value.text.ja


def test_a_refused_request_gives_the_servers_reason_at_once(server, make) -> None:
    server.script += [answer_status(400, message="maximum context length is 8192 tokens")]

    with pytest.raises(EmbeddingRequestRefused, match=r"HTTP 400.*maximum context length") as caught:
        make().embed_query("申請")

    assert not caught.value.retryable
    assert len(server.requests) == 1


def test_a_dimension_that_changes_between_answers_is_an_error(server, make) -> None:
    embedder = make()
    embedder.embed_query("申請")
    server.script += [answer_json({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]

    with pytest.raises(EmbeddingResponseInvalid, match="vectors of 2 numbers; 8 were expected"):
        embedder.embed_query("申請")


def test_a_wrong_dimension_in_the_first_answer_is_forgotten_once_others_differ(server, make) -> None:
    embedder = make()
    server.script += [answer_json({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]
    assert embedder.embed_query("申請").shape == (2,)

    with pytest.raises(EmbeddingResponseInvalid, match="vectors of 8 numbers; 2 were expected"):
        embedder.embed_query("申請")

    assert embedder.embed_query("申請").shape == (8,)


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": 1.0}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": [float("nan"), 1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    ],
    ids=str,
)
def test_an_answer_that_is_not_one_vector_per_text_is_an_error(server, make, content: object) -> None:
    server.script += [answer_json(content)]

    with pytest.raises(EmbeddingResponseInvalid, match="cannot be used"):
        make().embed_query("申請")


def test_an_empty_text_without_prefix_is_refused_before_sending(server, make) -> None:
    with pytest.raises(EmbeddingInputEmpty, match="has no prefix"):
        make().embed_passages(["申請", " \n"])

    assert server.requests == []


def test_a_passage_beyond_the_limit_is_refused_before_sending(server, make) -> None:
    with pytest.raises(EmbeddingInputTooLong, match=r"Passage 1 has 15 tokens.*at most 10"):
        make(max_tokens=10).embed_passages(["短い", "あいうえおかきくけこ"])

    assert server.requests == []


def test_a_query_beyond_the_limit_is_cut_to_what_fits(server, make) -> None:
    embedder = make(max_tokens=10)

    embedder.embed_query("あいうえおかきくけこ")

    assert server.requests[0][2]["input"] == ["あいうえおか"]
    assert embedder.query_is_truncated("あいうえおかきくけこ")
    assert not embedder.query_is_truncated("あいうえおか")


def test_the_fingerprint_follows_the_model_but_not_the_server(make) -> None:
    base = make().fingerprint

    assert make(base_url="http://127.0.0.1:1/v1").fingerprint == base
    assert make(model="other").fingerprint != base


def test_the_estimate_rounds_up_half_the_bytes() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "ab", "あ")] == [0, 1, 1, 2]
