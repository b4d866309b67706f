"""Values whose fields are columns of one length. Pure: no database, no framework."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray


class Columnar:
    """The base of frozen dataclasses with slots, all of whose fields are columns: one-dimensional arrays."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def at(self, which: NDArray[np.int64] | slice) -> Self:
        """Keep the rows at some places, in the order of these."""
        # The slots are the fields; dataclasses.fields would take longer than taking from the columns.
        return type(self)(**{name: getattr(self, name)[which] for name in self.__slots__})

    def followed_by(self, others: Self) -> Self:
        """Put other rows behind these."""
        return type(self)(
            **{name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in self.__slots__}
        )
