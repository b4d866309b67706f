"""Export the bundled weights as a sentence-transformers folder, so that that backend runs on a real model."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken

from knowledge.embedders.bundled.weights import Weights, dequantise

from .reference_tokenizer import build_reference

MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
SPECIAL_NAMES = {
    "bos_token": "<s>",
    "cls_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}


def export_model(weights: Weights, folder: Path) -> None:
    """Write model, tokenizer and pooling settings (470 MB) to an existing folder."""
    from safetensors.numpy import save_file

    save_file(dict(_tensors(weights)), folder / "model.safetensors", metadata={"format": "pt"})
    _write_json(folder / "config.json", _config(weights))
    _export_tokenizer(weights, folder)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    _write_json(
        folder / "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(modules)
        ],
    )
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    pooling = {"word_embedding_dimension": weights.shape.hidden, "pooling_mode_mean_tokens": True}
    _write_json(folder / "1_Pooling" / "config.json", pooling)
    _write_json(folder / "sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": False})


def _tensors(weights: Weights) -> Iterator[tuple[str, NDArray[np.float32]]]:
    hidden = weights.shape.hidden
    yield "embeddings.word_embeddings.weight", dequantise(weights.blocks("emb.word", columns=hidden))
    yield "embeddings.position_embeddings.weight", weights.floats("emb.pos").reshape(-1, hidden)
    yield "embeddings.token_type_embeddings.weight", weights.floats("emb.type").reshape(-1, hidden)
    yield from _norm(weights, "emb.ln", "embeddings.LayerNorm")
    for layer in range(weights.shape.layers):
        prefix = f"encoder.layer.{layer}"
        for short, name in MATRICES.items():
            columns = weights.shape.feed_forward if short == "fo" else hidden
            blocks = weights.blocks(f"l{layer}.{short}.w", columns=columns)
            yield f"{prefix}.{name}.weight", dequantise(blocks)
            yield f"{prefix}.{name}.bias", weights.floats(f"l{layer}.{short}.b")
        for short, name in NORMS.items():
            yield from _norm(weights, f"l{layer}.{short}", f"{prefix}.{name}")


def _norm(weights: Weights, short: str, name: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
    yield f"{name}.weight", weights.floats(f"{short}.w")
    yield f"{name}.bias", weights.floats(f"{short}.b")


def _config(weights: Weights) -> dict[str, object]:
    shape = weights.shape
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.feed_forward,
        "vocab_size": len(weights.blocks("emb.word", columns=shape.hidden)),
        "max_position_embeddings": shape.positions,
        "type_vocab_size": len(weights.floats("emb.type")) // shape.hidden,
        "layer_norm_eps": shape.layer_norm_epsilon,
        "hidden_act": "gelu",
        "pad_token_id": weights.vocabulary.pad,
    }


def _export_tokenizer(weights: Weights, folder: Path) -> None:
    # With its special tokens under their usual names: keeping those typed in a text apart is the backend's task.
    tokenizer = build_reference(weights.vocabulary, typed_specials_are_text=False)
    names = sorted(set(SPECIAL_NAMES.values()))
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **SPECIAL_NAMES}
    _write_json(folder / "tokenizer_config.json", settings)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content))
