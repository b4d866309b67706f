"""An S3 server for the tests of everything that stores there or reads from there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    """The URL of moto's server, which speaks the real protocol over HTTP."""
    from moto.server import ThreadedMotoServer  # slow to import, and few modules need it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
