"""The code of the guide runs as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cotherm as ct


def test_the_guide_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "scikit-learn.md").read_text()
    names: dict[str, Any] = {}
    exec("\n".join(block.split("```")[0] for block in text.split("```python\n")[1:]), names)
    assert names["search"].best_score_ > 0.9
    assert [len(labels) for labels in names["labeled"].labels_] == [150, 150]
    paired = names["paired"]
    assert set(paired.index_) == set(names["names"])
    assert paired.items_.shape == paired.common_embedding_.shape == (200, 2)
    truth = names["y"][[names["names"].index(name) for name in paired.index_]]
    assert ct.evaluate.clustering_accuracy(truth, paired.labels_) > 0.85
