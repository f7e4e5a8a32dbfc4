"""A step of the heat recurrence in Triton, in a file of its own: Triton reads the source of its kernels."""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def chebyshev_step(  # type: ignore[no-untyped-def]
    offsets, columns, weights, factors, current, previous, room, due, is_due, is_first, sums, n,
    WIDTH: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Some rows and all columns, of which there are a power of two."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = r < n
    at, mask = r[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :], inside[:, None]
    first = tl.load(offsets + r, mask=inside, other=0)
    last = tl.load(offsets + r + 1, mask=inside, other=0)
    own = tl.load(current + at, mask=mask, other=0.0)
    before = tl.load(previous + at, mask=mask, other=0.0)
    total = tl.zeros((ROWS, WIDTH), tl.float64)
    for p in range(0, tl.max(last - first, axis=0)):
        has = first + p < last
        k = tl.load(columns + first + p, mask=has, other=0)
        w = tl.load(weights + first + p, mask=has, other=0.0)
        x = tl.load(current + k[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :], mask=has[:, None], other=0.0)
        total += w[:, None] * (own - x)
    latest = tl.load(factors) * total - tl.load(factors + 1) * own - before
    tl.store(room + at, latest, mask=mask)
    if is_due != 0:
        added = tl.load(due) * before + tl.load(due + 1) * own + tl.load(due + 2) * latest
        if is_first == 0:
            added += tl.load(sums + at, mask=mask, other=0.0)
        tl.store(sums + at, added, mask=mask)
