"""
New samples through scikit-learn's doors
========================================

Two views of handwritten digits, their upper and their lower halves, through scikit-learn's doors.

Three couplings are fitted to 300 digits and place 100 others, which they have not seen. Where would a fit that had
them put them? And are they read as well?

Run it: python examples/plot_estimators.py [PICTURE]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import cotherm as ct

# %%
# Each row is a digit of 8 × 8 pixels. Its first 32 columns are the upper half, the other 32 the lower half:
# ``view_columns`` says so.

X, y = load_digits(return_X_y=True)
chosen = np.random.default_rng(0).permutation(len(X))[:400]
X, y, known = X[chosen], y[chosen], 300
shared = {"view_columns": [32, 32], "n_components": 6, "n_neighbors": 8}
landmarks = {"n_landmarks": 8, "continuation": "times", "tolerance": 1e-3}
models = {
    "landmarks, view by view": ct.HeatKernelCoupling(**shared, correspondence="landmarks", options=landmarks),
    "pairs, view by view": ct.HeatKernelCoupling(**shared, options={"kept_back": 0}),
    "pairs, common space": ct.HeatKernelCoupling(**shared, output="common", options={"kept_back": 0}),
}


# %%
# Every model is fitted twice, to all digits and to 300 of them. The other 100 are then placed by ``transform``. Modes
# of two fits differ by a rotation, so coordinates are compared after the best one.


def away(found, wanted):
    """The relative error of coordinates."""
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


figure = Figure(figsize=(11.5, 4.2), layout="constrained")
axes = figure.subplots(1, 3)
read = KNeighborsClassifier(5)
rows = []
for ax, (name, model) in zip(axes, models.items(), strict=True):
    full = model.fit_transform(X)
    part = model.fit_transform(X[:known])
    new = model.transform(X[known:])
    turn = np.linalg.lstsq(part, full[:known], rcond=None)[0]
    seen = cross_val_score(read, part, y[:known]).mean()
    unseen = read.fit(part, y[:known]).score(new, y[known:])
    rows.append((name, away(part @ turn, full[:known]), away(new @ turn, full[known:]), seen, unseen))
    ax.scatter(*part[:, :2].T, c=y[:known], cmap="tab10", s=10, alpha=0.45, vmin=0, vmax=9)
    ax.scatter(*new[:, :2].T, c=y[known:], cmap="tab10", s=40, marker="+", vmin=0, vmax=9)
    ax.set_title(f"{name}: {unseen:.0%} of new digits read", fontsize=11)
    ax.set_xticks([])
    ax.set_yticks([])
axes[0].set_xlabel("first two coordinates; dots: fitted, +: new; colors: digits", fontsize=9)

picture = Path(sys.argv[1] if len(sys.argv) > 1 else "out/estimators.png")
picture.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(picture, dpi=110)
# %%
# By landmarks and in the common space new digits are hardly further off than those of the fit, and are read nearly as
# well. Views that were coupled by pairs borrow edges from each other, which new digits do not have: by themselves they
# place new digits worse than the common space does.

sys.stdout.write(f"{'':<26}{'coordinates off, fitted':>24}{'new':>8}{'read right, fitted':>22}{'new':>8}\n")
for name, off_seen, off_new, seen, unseen in rows:
    sys.stdout.write(f"{name:<26}{off_seen:>24.2f}{off_new:>8.2f}{seen:>22.1%}{unseen:>8.1%}\n")
sys.stdout.write(f"Picture: {picture}\n")

for name, off_seen, off_new, seen, unseen in rows:
    assert unseen > 0.8, name
    if name != "pairs, view by view":
        assert off_new < off_seen + 0.15, name
        assert unseen > seen - 0.08, name
assert rows[2][2] < rows[1][2]
