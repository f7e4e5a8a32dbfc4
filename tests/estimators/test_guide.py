"""The code of the guide runs as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_the_guide_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "scikit-learn.md").read_text()
    names: dict[str, Any] = {}
    exec(text.split("```python\n")[1].split("```")[0], names)
    assert names["search"].best_score_ > 0.9
    assert [len(labels) for labels in names["bases"].labels_] == [150, 150]
