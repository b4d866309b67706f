"""Rebuild the BERT encoder of multilingual-e5-small as an ONNX graph, from the 4-bit weights.

Input `input_ids` (tokens,) int64, output `embedding` (1, hidden) float32 of norm 1. One text per run: on a CPU
a batch is no faster, and its padding costs time. Large constants are kept in a file of their own, which ONNX Runtime
maps, so that worker processes share their pages.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from knowledge.embedders.bundled.weights import BLOCK_SIZE, Blocks, ModelShape, Weights, dequantise, nibbles

Attribute: TypeAlias = int | float | TensorProto

MICROSOFT = "com.microsoft"
OPSET = 21
IR_VERSION = 10
# Source: ONNX "External Data", which asks for page-aligned offsets so that tensors can be mapped.
PAGE_SIZE = 4096
SMALLEST_EXTERNAL_SIZE = 1024


class OnnxFile:
    """Collect nodes and constants of one graph; values are referred to by name.

    Use as a context manager: it holds the open file of constants, `<path>.data` beside the model.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data_path = path.with_name(path.name + ".data")
        self._data = self._data_path.open("wb")
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[TensorProto] = []

    def __enter__(self) -> OnnxFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._data.close()

    def constant(self, name: str, array: NDArray[Any]) -> str:
        array = np.ascontiguousarray(array)
        if array.nbytes < SMALLEST_EXTERNAL_SIZE:
            tensor = numpy_helper.from_array(array, name)
        else:
            tensor = self._write_external(name, array)
        self._constants.append(tensor)
        return name

    def _write_external(self, name: str, array: NDArray[Any]) -> TensorProto:
        self._data.seek(-self._data.tell() % PAGE_SIZE, 1)
        tensor = TensorProto(
            name=name,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            dims=array.shape,
            data_location=TensorProto.EXTERNAL,
        )
        place = {"location": self._data_path.name, "offset": self._data.tell(), "length": array.nbytes}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._data.write(array.data)
        return tensor

    def node(self, operator: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Attribute) -> str:
        self.nodes(operator, inputs, [output], domain=domain, **attributes)
        return output

    def nodes(
        self, operator: str, inputs: list[str], outputs: list[str], *, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        node = helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
        self._nodes.append(node)
        return outputs

    def save(self, *, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> None:
        graph = helper.make_graph(self._nodes, name, inputs, outputs, initializer=self._constants)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
            ir_version=IR_VERSION,
        )
        self._data.flush()
        onnx.save(model, self._path)


# 7 bits: CPUs without VNNI add two products of 8 bits in 16, and saturate silently beyond |w| = 63.
WEIGHT_STEPS = 63
ACTIVATION_STEPS = 127
ACTIVATION_ZERO = 128
# Gelu never falls below -0.17, so its output gets 32 steps below zero and 223 above.
GELU_MINIMUM = 0.1701
GELU_ZERO = 32
GELU_STEPS = 255 - GELU_ZERO
SMALLEST_ROW_MAXIMUM = 1e-9  # keeps a row of zeros from dividing by zero


class Linear(Protocol):
    """A way to compute x W^T + b for the rows of x."""

    def __call__(
        self, x: str, matrix: Blocks, bias: NDArray[np.float32], *, name: str, after_gelu: bool = False
    ) -> str:
        """Add the nodes of one layer and return the name of its output."""


class Float32Linear:
    def __init__(self, file: OnnxFile) -> None:
        self._file = file

    def __call__(
        self, x: str, matrix: Blocks, bias: NDArray[np.float32], *, name: str, after_gelu: bool = False
    ) -> str:
        weight = self._file.constant(f"{name}.weight", dequantise(matrix).T)
        product = self._file.node("MatMul", [x, weight], f"{name}.product")
        return self._file.node("Add", [product, self._file.constant(f"{name}.bias", bias)], f"{name}.output")


class Int8Linear:
    """Multiply 8-bit activations, scaled row by row, with 7-bit weights, scaled per output feature.

    A scale per row, that is per token: single tokens have values 30 times larger than the rest, and one scale
    for all would cost the rest their precision.
    """

    def __init__(self, file: OnnxFile) -> None:
        self._file = file
        file.constant("one", np.array(1, np.float32))
        file.constant("last_axis", np.array([-1], np.int64))
        file.constant("smallest", np.array(SMALLEST_ROW_MAXIMUM, np.float32))
        file.constant("activation_step", np.array(1 / ACTIVATION_STEPS, np.float32))
        file.constant("gelu_step", np.array(1 / GELU_STEPS, np.float32))
        file.constant("gelu_smallest", np.array(GELU_MINIMUM / GELU_ZERO, np.float32))
        for kind, zero in (("activation", ACTIVATION_ZERO), ("gelu", GELU_ZERO)):
            value = helper.make_tensor(f"{kind}_zero_value", TensorProto.UINT8, [1], [zero])
            file.constant(f"{kind}_zero", np.array(zero, np.uint8))
            file.node("ConstantOfShape", ["token_count"], f"{kind}_zeros", value=value)

    def __call__(
        self, x: str, matrix: Blocks, bias: NDArray[np.float32], *, name: str, after_gelu: bool = False
    ) -> str:
        node, constant = self._file.node, self._file.constant
        scale = self._gelu_scale(x, name) if after_gelu else self._row_scale(x, name)
        kind = "gelu" if after_gelu else "activation"
        scales = node("Squeeze", [scale, "last_axis"], f"{name}.scales")
        quantised = node("QuantizeLinear", [x, scales, f"{kind}_zeros"], f"{name}.quantised", axis=0)
        weight, weight_scale = quantise_rows(dequantise(matrix))
        constant(f"{name}.weight", weight.T)
        constant(f"{name}.weight_scale", weight_scale)
        product = node(
            "MatMulIntegerToFloat",
            [quantised, f"{name}.weight", "one", f"{name}.weight_scale", f"{kind}_zero"],
            f"{name}.product",
            domain=MICROSOFT,
        )
        rescaled = node("Mul", [product, scale], f"{name}.rescaled")
        return node("Add", [rescaled, constant(f"{name}.bias", bias)], f"{name}.output")

    def _row_scale(self, x: str, name: str) -> str:
        node = self._file.node
        largest = node("ReduceMax", [node("Abs", [x], f"{name}.abs"), "last_axis"], f"{name}.max", keepdims=1)
        return node("Mul", [node("Add", [largest, "smallest"], f"{name}.nonzero"), "activation_step"], f"{name}.scale")

    def _gelu_scale(self, x: str, name: str) -> str:
        node = self._file.node
        largest = node("ReduceMax", [x, "last_axis"], f"{name}.max", keepdims=1)
        return node("Max", [node("Mul", [largest, "gelu_step"], f"{name}.steps"), "gelu_smallest"], f"{name}.scale")


def quantise_rows(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round each row to -63..63: (rows, columns) int8, and the (rows,) scale to multiply back with."""
    scale = np.maximum(np.abs(matrix).max(axis=1), SMALLEST_ROW_MAXIMUM) / WEIGHT_STEPS
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def build_graph(weights: Weights, path: Path, *, precision: Literal["int8", "fp32"]) -> None:
    """Write the model to `path` and its constants to `<path>.data` (82 MB for int8, 146 MB for fp32)."""
    with OnnxFile(path) as file:
        file.node("Shape", ["input_ids"], "token_count")
        x = _embeddings(file, weights)
        linear: Linear = Int8Linear(file) if precision == "int8" else Float32Linear(file)
        for layer in range(weights.shape.layers):
            x = _layer(file, weights, linear, x, f"l{layer}")
        pooled = file.node("ReduceSum", [x, "first_axis"], "pooled", keepdims=1)
        # The mean would be the sum divided by a count, which the normalisation takes out again.
        file.node("LpNormalization", [pooled], "embedding", axis=-1, p=2)
        file.save(
            name="multilingual-e5-small",
            inputs=[helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["tokens"])],
            outputs=[helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, weights.shape.hidden])],
        )


def _embeddings(file: OnnxFile, weights: Weights) -> str:
    """Look up words (left in 4 bits) and positions (token type 0 added in beforehand)."""
    hidden = weights.shape.hidden
    file.constant("first_axis", np.array([0], np.int64))
    words = weights.blocks("emb.word", columns=hidden)
    file.constant("words", pack_for_gather(words))
    file.constant("word_scales", words["scale"].astype(np.float32))
    word = file.node(
        "GatherBlockQuantized",
        ["words", "input_ids", "word_scales"],
        "word",
        domain=MICROSOFT,
        bits=4,
        block_size=BLOCK_SIZE,
        gather_axis=0,
        quantize_axis=1,
    )
    token_type = weights.floats("emb.type").reshape(-1, hidden)[0]
    file.constant("positions", weights.floats("emb.pos").reshape(-1, hidden) + token_type)
    position = file.node("Slice", ["positions", "first_axis", "token_count", "first_axis"], "position")
    return _add_and_normalise(file, weights, word, position, "emb.ln")


def pack_for_gather(blocks: Blocks) -> NDArray[np.uint8]:
    """Repack (rows, n) blocks to (rows, 16 n) bytes of two neighbouring columns, the first in the low nibble."""
    values = nibbles(blocks)
    pairs: NDArray[np.uint8] = values[..., 0::2] | values[..., 1::2] << np.uint8(4)
    return pairs.reshape(blocks.shape[0], -1)


def _add_and_normalise(file: OnnxFile, weights: Weights, x: str, residual: str, name: str) -> str:
    # Not SkipLayerNormalization, whose CPU kernel is several times slower than these two.
    total = file.node("Add", [x, residual], f"{name}.sum")
    scale = file.constant(f"{name}.weight", weights.floats(f"{name}.w"))
    shift = file.constant(f"{name}.bias", weights.floats(f"{name}.b"))
    epsilon = weights.shape.layer_norm_epsilon
    return file.node("LayerNormalization", [total, scale, shift], f"{name}.output", axis=-1, epsilon=epsilon)


def _layer(file: OnnxFile, weights: Weights, linear: Linear, x: str, name: str) -> str:
    shape = weights.shape

    def transformed(x: str, part: str, *, columns: int, after_gelu: bool = False) -> str:
        matrix, bias = weights.blocks(f"{name}.{part}.w", columns=columns), weights.floats(f"{name}.{part}.b")
        return linear(x, matrix, bias, name=f"{name}.{part}", after_gelu=after_gelu)

    attended = transformed(_attention(file, weights, linear, x, name), "ao", columns=shape.hidden)
    x = _add_and_normalise(file, weights, x, attended, f"{name}.aln")
    inner = transformed(x, "fi", columns=shape.hidden)
    activated = file.node("Gelu", [inner], f"{name}.gelu", domain=MICROSOFT)
    outer = transformed(activated, "fo", columns=shape.feed_forward, after_gelu=True)
    return _add_and_normalise(file, weights, x, outer, f"{name}.oln")


def _attention(file: OnnxFile, weights: Weights, linear: Linear, x: str, name: str) -> str:
    shape: ModelShape = weights.shape
    blocks = [weights.blocks(f"{name}.{part}.w", columns=shape.hidden) for part in "qkv"]
    biases = [weights.floats(f"{name}.{part}.b") for part in "qkv"]
    joined = linear(x, np.concatenate(blocks), np.concatenate(biases), name=f"{name}.qkv")
    batch = file.node("Unsqueeze", [joined, "first_axis"], f"{name}.batch")
    parts = file.nodes("Split", [batch], [f"{name}.{part}" for part in "qkv"], axis=-1, num_outputs=len("qkv"))
    attended = file.node("MultiHeadAttention", parts, f"{name}.attended", domain=MICROSOFT, num_heads=shape.heads)
    return file.node("Squeeze", [attended, "first_axis"], f"{name}.heads")
