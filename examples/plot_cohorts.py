"""
Cohorts that overlap in part
============================

220 made-up patients of five groups and three panels of measurements: blood, proteins and a survey. A patient is in one,
two or three panels, and each panel confuses two of the groups. Patients with the same name are the same; nothing else
is known. What comes out for all of them, also for those in one panel only? Groups only judge.

Then the names in the survey are permuted, so that it has nothing in common with the others: the report says so.

Run it: python examples/plot_cohorts.py [PICTURE [SEED]]. It writes the tables beside the picture. The claims at the end
are about the default seed.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import cotherm as ct

SEED = 4
GROUPS = "ABCDE"
# Numbers of measurements, noise, and two groups that look the same there.
PANELS = {"blood": (10, 0.8, (0, 1)), "proteins": (30, 1.0, (2, 3)), "survey": (8, 1.4, (3, 4))}
# The panels that patients are in, and how often.
MEMBERS = {(0,): 0.10, (1,): 0.08, (2,): 0.08, (0, 1): 0.22, (0, 2): 0.12, (1, 2): 0.16, (0, 1, 2): 0.24}
MOVES = 8.0  # heat is compared when it has made so many moves along edges


def cohorts(seed, n=220):
    """For each panel the names of its patients, in an order of its own, their measurements and their groups."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) % len(GROUPS))
    names = np.array([f"P{k:03d}" for k in range(n)])
    member = rng.choice(len(MEMBERS), n, p=list(MEMBERS.values()))
    for k, (columns, noise, alike) in enumerate(PANELS.values()):
        centers = 2.2 * rng.standard_normal((len(GROUPS), 4))
        centers[alike[1]] = centers[alike[0]] + 0.4 * rng.standard_normal(4)
        rows = rng.permutation(np.flatnonzero([k in list(MEMBERS)[m] for m in member]))
        state = centers[group[rows]] + noise * rng.standard_normal((len(rows), 4))
        X = state @ rng.standard_normal((4, columns)) + 0.5 * rng.standard_normal((len(rows), columns))
        yield names[rows], X, np.array(list(GROUPS))[group[rows]]


def write_tables(folder, patients):
    """The panels and the groups as tables, for the command line."""
    classes = {}
    for name, (ids, X, groups) in patients.items():
        titles = ["id", *(f"{name} {c + 1}" for c in range(X.shape[1]))]
        rows = [",".join([patient, *(f"{x:.6f}" for x in row)]) for patient, row in zip(ids, X, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join([",".join(titles), *rows]) + "\n", encoding="utf-8")
        classes.update(zip(ids.tolist(), groups.tolist(), strict=True))
    rows = [f"{patient},{classes[patient]}" for patient in sorted(classes)]
    (folder / "groups.csv").write_text("\n".join(["id,group", *rows]) + "\n", encoding="utf-8")


picture = Path(sys.argv[1] if len(sys.argv) > 1 else "out/cohorts.png")
picture.parent.mkdir(parents=True, exist_ok=True)
seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
panels = dict(zip(PANELS, cohorts(seed), strict=True))
write_tables(picture.parent, panels)

# %%
# A graph for each panel, patients paired by their names, one coupling, and one graph over all patients.
# Labels are stored with the graphs and judge below.
graphs = [ct.knn_graph(np.round(X, 6), k=10, labels=groups, name=name) for name, (_, X, groups) in panels.items()]
table = ct.pair_names([names for names, _, _ in panels.values()])
result = ct.couple_pairs(graphs, table)
common = result.common_graph()
sys.stdout.write(f"{result}\n\n{common}\n\n")


# %%
# Judged by groups: retrieval within each panel, of all its patients and of those that are in no other; and clusters.
def precisions(distances, labels):
    return 100.0 * ct.evaluate.retrieval(distances, labels).average_precisions


def heat_distances(graph):
    return ct.diffusion_distance(graph, MOVES / np.median(graph.degrees))


def agreement_with_groups(graph, clusters):
    return ct.evaluate.clustering_scores(graph.labels, clusters)["AMI"]


count = np.sum(common.items >= 0, axis=1)
apart = heat_distances(common.graph)
clusters = common.clusters(len(GROUPS))
of_view = [common.of_view(k) for k in range(len(graphs))]
found = []
for k, graph in enumerate(graphs):
    items = of_view[k]
    single = count[items] == 1
    states = (heat_distances(graph), heat_distances(result.graphs[k]), apart[np.ix_(items, items)])
    scores = [precisions(distances, graph.labels) for distances in states]
    own = ct.common_graph([graph, graph]).clusters(len(GROUPS))  # of the panel alone, found in the same way
    found.append(
        {
            "all": [float(one.mean()) for one in scores],
            "in this panel only": [float(one[single].mean()) for one in scores],
            "AMI": [agreement_with_groups(graph, own), agreement_with_groups(graph, clusters[items])],
        }
    )

sys.stdout.write("retrieval within a panel, mAP in percent: the panel as it is, coupled, on the common graph\n")
for who in ("all", "in this panel only"):
    for name, scores in zip(PANELS, found, strict=True):
        sys.stdout.write(f"  {name + ', ' + who:<30}" + "".join(f"{score:>8.1f}" for score in scores[who]) + "\n")
sys.stdout.write("clusters, AMI with the groups: of the panel alone, and of the same patients on the common graph\n")
for name, scores in zip(PANELS, found, strict=True):
    sys.stdout.write(f"  {name:<30}" + "".join(f"{score:>8.3f}" for score in scores["AMI"]) + "\n")

# %%
# Who would be near a patient in a panel that they are not in? The share of imputed neighbors of the same group.
imputed = []
sys.stdout.write("imputed neighbors of the same group, in percent, and by chance\n")
for k, (name, graph) in enumerate(zip(PANELS, graphs, strict=True)):
    missing = np.flatnonzero(common.items[:, k] < 0)
    near = common.neighbors(k, 5)
    right = graph.labels[near.indices] == common.graph.labels[missing][:, np.newaxis]
    chance = graph.labels[np.newaxis, :] == common.graph.labels[missing][:, np.newaxis]
    imputed.append((100.0 * right.mean(), 100.0 * chance.mean()))
    sys.stdout.write(f"  {name}, for {len(missing)} patients".ljust(32) + "{:>8.1f}{:>8.1f}\n".format(*imputed[-1]))

# %%
# The same with the names of one cohort permuted.
names = [ids for ids, _, _ in panels.values()]
wrong = ct.couple_pairs(graphs, ct.pair_names([*names[:2], np.random.default_rng(0).permutation(names[2])]))
sys.stdout.write("\nwith the names of the survey permuted\n" + "\n".join(wrong.pairs.lines(list(PANELS))) + "\n")

# %%
# All patients in one space.
figure = Figure(figsize=(10.5, 4.9), layout="constrained")
figure.suptitle("220 patients of three panels in one space, by the common graph")
axes = figure.subplots(1, 2)
markers, colors = {1: "^", 2: "o", 3: "s"}, dict(zip(GROUPS, ("C0", "C1", "C2", "C3", "C4"), strict=True))
points = common.embedding(4, t=4.0)
for ax, (x, y) in zip(axes, ((0, 1), (2, 3)), strict=True):
    for panels_of, marker in markers.items():
        here = count == panels_of
        colored = [colors[group] for group in common.graph.labels[here]]
        ax.scatter(points[here, x], points[here, y], c=colored, marker=marker, s=24, alpha=0.75, linewidths=0)
    ax.set_xlabel(f"coordinate {x + 1}")
    ax.set_ylabel(f"coordinate {y + 1}")
    ax.set_xticks([])
    ax.set_yticks([])
handles = [Line2D([], [], color=color, marker="o", linestyle="") for color in colors.values()]
handles += [Line2D([], [], color="0.4", marker=marker, linestyle="") for marker in markers.values()]
titles = [*(f"group {group}" for group in GROUPS), "in one panel", "in two panels", "in three panels"]
figure.legend(handles, titles, loc="outside right upper", frameon=False)
figure.savefig(picture, dpi=110)
sys.stdout.write(f"\nPicture: {picture}\n")

assert all(right > 2.5 * chance for right, chance in imputed)
assert any("survey has nothing in common" in note for note in wrong.pairs.notes)
assert np.array_equal(wrong.graphs[2].w, graphs[2].w)
assert [one.coupled for one in wrong.pairs.agreement] == [True, False, False]
if seed == SEED:
    assert all(one.after > one.before > one.chance for one in result.pairs.agreement)
    for scores in found:
        before, coupled, together = scores["all"]
        assert coupled > before + 1.0
        assert together > before + 4.0
        before, coupled, together = scores["in this panel only"]
        assert coupled > before - 2.0
        assert together > before - 2.0
        assert scores["AMI"][1] > scores["AMI"][0] + 0.03
