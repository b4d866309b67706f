"""What so many passages want: machines, memory, disk, time to build, waits and money, from what was measured.

`python -m benchmarks.sizing` prints the table of docs/scale.md; with --check it says whether the document has it. The
constants are measurements with their source, and assumptions that are said to be such; change a constant, and the
table follows. 10^5 and 10^6 passages are measured, everything beyond is computed.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- benchmarks.sizing: begin -->\n", "<!-- benchmarks.sizing: end -->\n"
SIZES = (10**5, 10**6, 10**7, 10**8)

# Measured at 10^6 (docs/performance.md, "Scale"): what PostgreSQL keeps of a passage, in bytes. The index is what
# searches want in memory: postings, vectors with HNSW, terms, and of the passages their keys and numbers.
ON_DISK = 8_000
IN_MEMORY = 7_090
# Measured there: seconds for 10^6, of postings, and of HNSW in the middle of 23 and 29 minutes; both grow a little more
# than linearly, for which a factor of log2 of the growth stands with HNSW (assumption: as its walks do).
POSTINGS_S = 22 * 60
HNSW_S = 26 * 60
# Measured there, milliseconds at 95 % of hybrid searches without the model, one client. Beyond 10^6: along the power of
# the size that leads from the first to the second, with everything in memory (assumption).
P95_MS = {10**5: 30.1, 10**6: 102.8}
GROWTH = math.log10(P95_MS[10**6] / P95_MS[10**5])
# Measured (docs/performance.md, "Ingest"): processor seconds from file to index for 451 passages, most of it embedding
# with the bundled model. So many cores read files (assumption).
READ_S = 28.4 / 451
WORKERS = 16
# Measured with 50,000 (docs/performance.md, "Replicas"): processor milliseconds of a hybrid search in PostgreSQL alone,
# and with replicas at the primary and at the one that serves. What is summed and walked grows as the wait does, what
# the primary permits does not (assumptions).
MEASURED_PASSAGES = 50_000
ALONE_MS, PRIMARY_MS, REPLICA_MS = 13.7, 4.0, 12.7
REPLICAS = 2
# A core is not to be busy for longer than this part of the time (assumption), or waits grow.
BUSY = 0.6
# Of Qdrant, bytes of a passage with vectors in half precision and exact sums, measured with its engine on 10^5 and
# scaled to 244 terms; room for what an optimiser copies (assumption: 1.3 of memory, 2 of disk); two copies.
ENGINE_MEMORY, ENGINE_DISK, COPIES = 2_700 * 1.3, 4_300 * 2, 2
# Measured with it: milliseconds for the sums of 10^6 passages in one shard; at 95 % half as much again.
SHARD_MS = 6.0 * 1.5
MOST_OF_SHARD = 4 * 10**6
# What a search takes beside the sums: reading and permitting candidates, ranking, the page. Of the 30.1 ms at 10^5 the
# sums were some 10 (assumption).
HUBS_MS = 20
MOST_OF_NODE_GIB = 256
# Beside Qdrant PostgreSQL still holds everything on disk; in memory it wants texts and keys of hits, and postings of
# the terms asked (assumption: a quarter of what it wants alone).
BESIDE = 0.25
# Machines come with so much memory, and a core for each 8 GiB (assumption). The hub's processes and the system take 6.
MACHINES_GIB = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
GIB_A_CORE = 8
OWN_GIB = 6
# US dollars a month for a GiB of memory with its share of cores, and for a GB of disk (assumption: what public clouds
# ask without a commitment; put in your own).
PER_GIB, PER_GB = 6.0, 0.1
GIB, GB = 2**30, 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A way to run the hub, for so many passages; ``machines`` says how many of which memory in GiB, None: too large.

    ``searches_s`` is what PostgreSQL's cores give; None where nothing was measured that it follows from.
    """

    name: str
    passages: int
    machines: tuple[tuple[int, int | None], ...]
    memory_gib: float
    disk_gb: float
    p95_ms: float
    searches_s: float | None

    @property
    def dollars(self) -> float | None:
        """What it costs a month; None where no machine is large enough."""
        known = [count * size for count, size in self.machines if size is not None]
        if len(known) < len(self.machines):
            return None
        return sum(known) * PER_GIB + self.disk_gb * PER_GB


def machine_for(gib: float) -> int | None:
    """Return the memory of the smallest machine that has so much beside the hub's own; None without one."""
    return next((size for size in MACHINES_GIB if size >= gib + OWN_GIB), None)


def p95_ms(passages: int) -> float:
    """Return what was measured, or what the same power of the size gives."""
    return P95_MS.get(passages) or P95_MS[10**6] * (passages / 10**6) ** GROWTH


def searches_s(cores: float, passages: int, measured_ms: float) -> float:
    """Return how many searches so many cores make, each of which takes so long with MEASURED_PASSAGES."""
    return cores * BUSY * 1000 / (measured_ms * p95_ms(passages) / p95_ms(MEASURED_PASSAGES))


def one_machine(passages: int) -> Shape:
    memory = passages * IN_MEMORY / GIB
    machine = machine_for(memory)
    return Shape(
        name="one machine",
        passages=passages,
        machines=((1, machine),),
        memory_gib=memory,
        disk_gb=passages * ON_DISK / GB,
        p95_ms=p95_ms(passages),
        searches_s=None if machine is None else searches_s(machine / GIB_A_CORE, passages, ALONE_MS),
    )


def with_replicas(passages: int) -> Shape:
    """A primary and its replicas, on machines alike. What the primary does for a search does not grow with the size."""
    alone = one_machine(passages)
    ((_one, machine),) = alone.machines
    rate = None
    if machine is not None:
        cores = machine / GIB_A_CORE
        at_primary = cores * BUSY * 1000 / PRIMARY_MS
        rate = min(searches_s(REPLICAS * cores, passages, REPLICA_MS), at_primary)
    return Shape(
        name=f"primary and {REPLICAS} replicas",
        passages=passages,
        machines=((1 + REPLICAS, machine),),
        memory_gib=alone.memory_gib * (1 + REPLICAS),
        disk_gb=alone.disk_gb * (1 + REPLICAS),
        p95_ms=alone.p95_ms,
        searches_s=rate,
    )


def with_qdrant(passages: int) -> Shape:
    """PostgreSQL without a need to keep its indexes in memory, and nodes of Qdrant: three at least, for two copies."""
    beside = passages * IN_MEMORY * BESIDE / GIB
    engine = passages * ENGINE_MEMORY * COPIES / GIB
    nodes = max(3, math.ceil(engine / (MOST_OF_NODE_GIB - OWN_GIB)))
    shards = max(nodes, math.ceil(passages / MOST_OF_SHARD))
    return Shape(
        name="PostgreSQL and Qdrant",
        passages=passages,
        machines=((1, machine_for(beside)), (nodes, machine_for(engine / nodes))),
        memory_gib=beside + engine,
        disk_gb=passages * (ON_DISK + ENGINE_DISK * COPIES) / GB,
        p95_ms=HUBS_MS + SHARD_MS * passages / shards / 10**6,
        searches_s=None,
    )


def build_hours(passages: int) -> tuple[float, float, float]:
    """Return the hours to read and embed, to write postings, and to build HNSW."""
    millions = passages / 10**6
    longer = max(1.0, math.log2(passages) / math.log2(10**6))
    return passages * READ_S / WORKERS / 3600, millions * POSTINGS_S / 3600, millions * HNSW_S * longer / 3600


def table() -> str:
    """Write the table in Markdown."""
    lines = [
        "| passages | shape | machines | index in memory, GiB | disk, GB | p95, ms | searches/s | USD a month |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for passages in SIZES:
        for shape in (one_machine(passages), with_replicas(passages), with_qdrant(passages)):
            lines.append(_row(shape))
    lines += [
        "",
        f"| passages | read and embed on {WORKERS} cores, h | postings, h | HNSW, h |",
        "|---|---|---|---|",
    ]
    for passages in SIZES:
        hours = " | ".join(_rounded(one) for one in build_hours(passages))
        lines.append(f"| 10^{round(math.log10(passages))} | {hours} |")
    return "\n".join(lines) + "\n"


def _row(shape: Shape) -> str:
    told = " + ".join(f"{count} × {f'{size} GiB' if size else 'too large'}" for count, size in shape.machines)
    is_measured = shape.passages in P95_MS and "Qdrant" not in shape.name
    wait = f"**{shape.p95_ms:.0f}**" if is_measured else _rounded(shape.p95_ms)
    cells = [
        f"10^{round(math.log10(shape.passages))}",
        shape.name,
        told,
        _rounded(shape.memory_gib),
        _rounded(shape.disk_gb),
        wait,
        _rounded(shape.searches_s),
        _rounded(shape.dollars),
    ]
    return f"| {' | '.join(cells)} |"


def _rounded(value: float | None) -> str:
    """Write two digits that count; – for what is not known."""
    if value is None:
        return "–"
    if value <= 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{round(value, 1 - math.floor(math.log10(value))):,.{digits}f}"


def main() -> None:
    """Print the table, or compare the document with it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing", description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 unless docs/scale.md has this table")
    if not parser.parse_args().check:
        print(table(), end="")
    elif in_document() != table():
        sys.exit(f"{DOCUMENT} has another table: put the output of python -m benchmarks.sizing there")


def in_document() -> str:
    """Return the table that the document has."""
    return DOCUMENT.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    main()
