"""Write an ONNX model piece by piece, its large constants straight into a file of their own.

Constants kept outside the graph are mapped by ONNX Runtime, so that worker processes share their pages.
"""

from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

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

    def __enter__(self) -> "OnnxFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._data.close()

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Add a constant and return its name."""
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
        """Add a node with one output and return the output's name."""
        self.nodes(operator, inputs, [output], domain=domain, **attributes)
        return output

    def nodes(
        self, operator: str, inputs: list[str], outputs: list[str], *, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        """Add a node with several outputs and return their names."""
        node = helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
        self._nodes.append(node)
        return outputs

    def save(self, *, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> None:
        """Write the model to the path given at the start."""
        graph = helper.make_graph(self._nodes, name, inputs, outputs, initializer=self._constants)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
            ir_version=IR_VERSION,
        )
        self._data.flush()
        onnx.save(model, self._path)
