"""Heads of requests that every reader reads alike: a lenient reader behind a proxy may see another request."""

from __future__ import annotations

from h11._receivebuffer import ReceiveBuffer
from h11._util import LocalProtocolError

LENGTH = b"content-length:"


class StrictHeads(ReceiveBuffer):
    """h11's buffer of received bytes, less lenient: no bare line feeds, no folded lines, no length said twice."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Give the lines of a whole head, or of trailers; None until all of it is there.

        :raises LocalProtocolError: a line ends without CR, or begins with a blank (obs-fold), or there are two
            lengths; h11 makes it a 400.
        """
        held = len(self)
        lines: list[bytearray] | None = super().maybe_extract_lines()
        if lines is None:
            return None
        if held - len(self) != sum(len(line) + 2 for line in lines) + 2:  # each line and the empty one end with CRLF
            raise LocalProtocolError("a line of the head ends without CR")
        if any(line.startswith((b" ", b"\t")) for line in lines):
            raise LocalProtocolError("a header goes on in the next line")
        lengths = [line for line in lines if line[: len(LENGTH)].lower() == LENGTH]
        if len(lengths) > 1 or any(b"," in line for line in lengths):
            raise LocalProtocolError("the length of the body is there more than once")
        return lines
