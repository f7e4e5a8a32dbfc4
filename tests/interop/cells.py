"""Made-up cells: three modalities of different cells, three types in a row."""

from __future__ import annotations

import anndata
import mudata
import numpy as np
import pandas as pd

TYPES = ["stem", "middle", "ripe"]  # not in alphabetical order


def cells(sizes: tuple[int, ...] = (60, 75, 66), seed: int = 0, features: int = 6) -> list[anndata.AnnData]:
    """Points around one place per type, mixed into features of every modality's own; half of the types known."""
    random = np.random.default_rng(seed)
    result = []
    for v, n in enumerate(sizes):
        kind = random.permutation(np.arange(n) % len(TYPES))
        X = (np.eye(3)[kind] * 4 + random.standard_normal((n, 3))) @ random.standard_normal((3, features))
        known = np.where(random.random(n) < 0.5, kind, -1)
        obs = pd.DataFrame(index=[f"{v}-{c}" for c in range(n)])
        obs["type"] = pd.Categorical.from_codes(kind.tolist(), TYPES)
        obs["known"] = pd.Categorical.from_codes(known.tolist(), TYPES)
        var = pd.DataFrame(index=[f"{v}-feature {f}" for f in range(features)])
        result.append(anndata.AnnData(X.astype(np.float32), obs=obs, var=var))
    return result


def together(adatas: list[anndata.AnnData]) -> mudata.MuData:
    """One MuData of three modalities."""
    # Without the option mudata warns that its default is about to change.
    with mudata.set_options(pull_on_update=False):
        return mudata.MuData(dict(zip(("rna", "met", "acc"), adatas, strict=True)))
