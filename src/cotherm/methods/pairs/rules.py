"""Every number that changes what coupling by pairs answers, with the evidence for it.

Labels never enter a rule; they judged when the numbers were chosen. "Points" are percent of mean average precision,
the mean after 4 and 8 moves. ``python -m benchmarks pairs`` and ``python -m benchmarks defaults`` measure what the
rules bring together, and what each part adds (``docs/neighbors.md``). Comparisons with other values of a number were
made once, on samples of up to 1,500 items of some thirty real sets, most of which are not in the benchmarks.
"""

from __future__ import annotations

# ---------------------------------------------------------------- relation of two views

# Moves of heat along edges when views are compared: as far as retrieval usually looks.
MOVES = 8.0
# Fewer shared items than this tell nothing about a relation.
FEWEST = 20
# Views count as unrelated if chance is more probable than this. Evidence grows from there, see ``relation.evidence``:
# 0 at 1e-3, a half at 1e-6, three quarters at 1e-12. The weakest relation of the real sets, text and images of 693
# articles, is 7 to 19 standard deviations above chance, and coupling gains 11 points there.
SURE = 1e-3
# The correlation assumed where views share too few items, and for unrelated views that are coupled all the same.
UNCERTAIN, LEAST_TRUST = 0.25, 0.01

# ---------------------------------------------------------------- functions and times

# Smooth modes of every view: one for this many shared items, and their maximum. With 8 in place of 24 coupling adds 2
# to 10 points less; with 48 it adds 0.1 to 2.3 more and takes twice as long.
ITEMS_A_MODE, MOST_MODES = 6, 24
# Heat is compared after 1/part² moves, where ``part`` is the part of the items that two views share, and after MOVES at
# most. All shared: one move adds more than 3 or 8 on 7 of 7 sets. Half shared: 3 moves add 3.2 points to items without
# a partner, one move 2.4. A quarter shared: 8 moves add 2.5, one move 1.0.
TIME_POWER = -2.0

# ---------------------------------------------------------------- strength of the coupling

# Strengths that are tried, one after the other, in units of the α at which coupling and distance weigh the same.
STRENGTHS = (1.0, 10.0**0.5, 10.0, 10.0**1.5, 100.0, 10.0**2.5)
# The weakest is taken that adds this part of the agreement that the best adds to what borrowing has added. Half of the
# sets (13): 0.7 gains 15.0 points, each fixed strength 13.1 to 15.0, with larger losses. The other 18: 4.1 beyond
# borrowing, as much as the strongest.
ENOUGH = 0.7
# The strength where nothing can be kept back: the one that is chosen most often.
USUAL_STRENGTH = 10.0**1.5
# A view is as rigid as its median correlation with the others, relative to their geometric mean, to this power. On 14
# sets of three to six views: 16.6 points at strength 32 and no view below as given; equal rigidity 15.9, and one view
# loses 9.4. The mean correlation in place of the median loses 3.0 where two views are near copies.
TRUST_POWER = 2.0
# If agreement falls by more standard errors than this, it is not by chance, and nothing is coupled.
WORSE = 2.0

# ---------------------------------------------------------------- weights that views borrow

# The largest share of weight that is borrowed, and the least factor on a view's own weights.
MOST_BORROWED, LEAST_OWN = 0.4, 0.3
# A view that would go less of the way than this is held and borrows nothing: many of its new edges would be near zero.
HELD = 0.01
# The share of the weight that second neighbors get, and the bounds on their number √n. 20 for all sizes
# was worse by 1 point at 500 to 1,200 items, and by 2 to 3 on a dense graph of 145.
SECOND_SHARE, SECOND_BETWEEN = 0.5, (10, 32)

# ---------------------------------------------------------------- agreement on pairs that are kept back

# Nearest neighbors of every item that heat in the other view has to find, a quarter of the items where there are few.
NEIGHBORS = 10
# Pairs are kept back in parts, one part after the other, until at least this many were kept back.
KEPT_BACK = 100

# ---------------------------------------------------------------- the common graph

# Two views whose heat correlates less are not merged: one may be little more than noise, and equal shares ruin the
# other. Coupling is gentler; it follows the correlation. With three or more views, weights for every item do better.
MERGED = 0.1
# The share of the weight that goes to second neighbors, their number in units of √n, and the bounds on it.
COMMON_SHARE, COMMON_OTHERS, COMMON_BETWEEN = 0.8, 2.0, (20, 100)
# Of two views the one with more structure counts more, and is taken alone where no views are related. Structure is
# the heat that the first modes of the normalized Laplacian keep after these moves. It is larger in the better view of
# 21 of 21 sets of two views whose scores differ by 5 points or more, cells with eight ways of counting open chromatin
# among them; the third eigenvalue alone is misled by a few odd items. It is wrong about six numbers on the shape of
# digits, whose graph falls into pieces: beside pixels the common graph then has about 55 in place of 58. On other sets
# weights change it by 1 point at most.
STRUCTURE_MODES, STRUCTURE_MOVES = 10, 16.0
# Moves of heat, rounds, and the least weight by which views are believed about an item. With a view permuted for half
# of its items, weights tell these by an AUC of .98 (digits, six views), .93 (3Sources), .88 (quarters of digits) and
# .72 (tcga and penguins: of three classes, a third of the permuted items are in the right one).
WEIGHT_MOVES, WEIGHT_ROUNDS, WEIGHT_LEAST = 4.0, 2, 0.02

# Clusters are read off the modes and off heat after these moves, on the graph with second neighbors and on that
# without, and the reading with the smallest normalized cut on the latter is taken. AMI in percent, mean over 8, 8 and
# 16 sets: 87.8, 73.2, 81.9; heat without second neighbors alone 87.2, 72.9, 80.3; modes alone 86.7, 69.0, 80.1. With a
# half and with a third of the items in all views they do not differ.
CLUSTER_MOVES = (2.0, 4.0, 8.0)
# The most clusters where the number is chosen: by the largest gap of the common graph's eigenvalues 88.6, 70.4,
# 80.7, without second neighbors 79.1, 60.6, 77.5; by modularity 88.9, 63.8, 77.3; Leiden's method 87.4, 65.4, 80.1.
MOST_CLUSTERS = 30

# ---------------------------------------------------------------- without borrowing, through shards

# The strength for views that do not borrow, and the power of the shared part it grows with: functions that end where
# the shared items end are rough there, which makes coupling look strong.
OWN_STRENGTH, OWN_POWER, OWN_LEAST_PART = 100.0, -4.0, 0.1
