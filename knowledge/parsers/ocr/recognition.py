"""The text of one line's picture, by a neural network that reads it from left to right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Places = NDArray[np.int64]

_HEIGHT, _LEAST_WIDTH, _MOST_WIDTH = 48, 96, 1280
# Characters outside of CP932 are mostly Chinese forms of Japanese ones; these are not.
_ALSO_ALLOWED = "㎡é"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineText:
    """``centres`` are where the characters stand, from 0 to 1 of the picture's width, ``chances`` how sure each is."""

    text: str
    confidence: float
    centres: tuple[float, ...] = ()
    chances: tuple[float, ...] = ()


class Recogniser:
    """Reads pictures of lines. The characters that it knows are in the network's own file."""

    def __init__(self, network: InferenceSession) -> None:
        self._network = network
        self._input = network.get_inputs()[0].name
        known = network.get_modelmeta().custom_metadata_map["character"].splitlines()
        self._characters = ["", *known, " "]
        self._is_foreign = np.array([bool(char) and not _is_allowed(char) for char in self._characters])
        self._not_among: dict[str, NDArray[np.bool_]] = {}

    def read(
        self, line: Image.Image, *, narrowed: float = 1.0, least: int = _LEAST_WIDTH, among: str | None = None
    ) -> LineText:
        """Read a line; what can't be told from paper is an empty text of confidence 0.

        ``narrowed`` is how wide a long line is made beside how wide it is: the time that it takes goes with its width.
        ``least`` is how wide its picture is made at least.
        With ``among`` it is read as characters of these alone, however unlikely they are.
        """
        own = max(_HEIGHT, round(line.width * _HEIGHT / line.height))
        width = min(_MOST_WIDTH, own, max(_LEAST_WIDTH, round(own * narrowed)))
        kind = Image.Resampling.BILINEAR if line.height >= _HEIGHT else Image.Resampling.BICUBIC
        pixels = np.asarray(line.resize((width, _HEIGHT), kind), np.float32) / 127.5 - 1
        planes = np.zeros((1, 3, _HEIGHT, max(width, least)), np.float32)
        planes[..., :width] = pixels
        found: Any = self._network.run(None, {self._input: planes})[0]
        steps: NDArray[np.float32] = found[0]
        best = self._best(steps, self._foreign(among))
        chance = steps[np.arange(len(best)), best]
        # A character lasts for several steps; between two of the same there is a step of none (class 0).
        first = (best > 0) & np.concatenate([[True], best[1:] != best[:-1]])
        places = np.nonzero(first)[0]
        if not len(places):
            return LineText(text="", confidence=0.0)
        share = planes.shape[3] / width / len(best)
        return LineText(
            text="".join(self._characters[at] for at in best[places]),
            confidence=float(chance[places].mean()),
            centres=tuple(min(float((place + 0.5) * share), 1.0) for place in places),
            chances=tuple(chance[places].tolist()),
        )

    def _foreign(self, among: str | None) -> NDArray[np.bool_]:
        if among is None:
            return self._is_foreign
        if among not in self._not_among:
            self._not_among[among] = np.array([bool(char) and char not in among for char in self._characters])
        return self._not_among[among]

    @staticmethod
    def _best(steps: NDArray[np.float32], is_foreign: NDArray[np.bool_]) -> Places:
        """The likeliest allowed character of each step."""
        best: Places = steps.argmax(1)
        foreign = is_foreign[best]
        best[foreign] = np.where(is_foreign, 0, steps[foreign]).argmax(1)
        return best


def _is_allowed(character: str) -> bool:
    try:
        character.encode("cp932")
    except UnicodeEncodeError:
        return character in _ALSO_ALLOWED
    return True
