"""Every size at which behavior changes: how something is computed, or whether it is at all.

Read them as ``limits.NAME`` when they are needed, so that a test can set them. ``docs/limits.md`` has them in a table.
"""

from __future__ import annotations

# ---------------------------------------------------------------- io

# From this many bytes of text on, loading pyarrow to parse its numbers is worth the time.
COMPILED_TABLE_BYTES = 2**20
# What a compressed file holds may take this many bytes, however small the file is.
UNPACKED_BYTES = 2**25
# Beyond, it may take this many times the size of the file; what takes more is refused.
UNPACKED_RATIO = 100

# ---------------------------------------------------------------- graphs

# Neighbors are searched for by a k-d tree up to this many dimensions; in more, trees look at most points anyway.
TREE_DIMENSIONS = 15
# This many pairs of dense points and more are compared by scikit-learn; for fewer its import takes longest.
SKLEARN_PAIRS = 25_000_000
# All pairs of more points take minutes: the search is approximate, unless the dimensions are few.
EXACT_NEIGHBORS = 100_000
# Pairs of a point and a neighbor, which take 40 bytes each on the way to a graph; more are refused.
NEIGHBOR_PAIRS = 200_000_000

# Larger graphs are renumbered for cache locality before they are coupled; smaller ones fit the caches as they are.
REORDERED = 2_000

# Edges of a shard, where no one says how many shards there are to be.
SHARD_EDGES = 8_000_000

# ---------------------------------------------------------------- engines

# Up to this size dense algebra runs in one thread: more would wait for each other.
ONE_BLAS_THREAD = 600
# Graphs with numbers of vertices between these two are worked on side by side, one thread each: the kernels of larger
# graphs use all threads themselves.
CONCURRENT_FROM = 120
CONCURRENT_TO = 30_000
# Pairs of points from which on a GPU that is asked for compares them, and points up to which it compares all pairs
# where search="auto": more take minutes.
GPU_PAIRS = 100_000_000
GPU_EXACT_NEIGHBORS = 2_000_000

# ---------------------------------------------------------------- solve

# Up to this many vertices the systems of a coupling step are solved by Cholesky, above by conjugate gradients.
CHOLESKY = 300
# Up to this many residuals (entries of Q, over all times and all graphs but one) the Jacobian of a coupling and the
# equations of its steps are formed; with more, steps go by gradients alone.
FORMED_RESIDUALS = 100
# Without ranks they are also formed with up to this many residuals where the Jacobian has at most so many entries:
# two views of 145 items with 50 functions take 12 s so, and 24 s by gradients.
FORMED_SMALL, FORMED_ENTRIES = 1_500, 5_000_000
# Entries of a formed Jacobian up to which the curvature of the residuals is learned from earlier steps.
LEARNED_CURVATURE = 5_000_000
# Up to this many rows eigenvectors come from a dense decomposition, above from Lanczos iterations.
DENSE_EIGENPAIRS = 2_000
# Up to this many rows Jacobi rotations sweep over whole matrices, above over blocks of rows.
JACOBI_UNBLOCKED = 500

# ---------------------------------------------------------------- heat

# Up to this many vertices heat flows by an eigendecomposition, which costs next to nothing.
EXACT_FLOW = 500
# No dense n × n matrix above this many vertices, unless the caller asks for one.
DENSE = 2_000
# All pairs of this many vertices are 3.2 GB, and as much again on the way; more are refused.
DENSE_RESULT = 20_000
# Up to this many vertices all pairs of diffusion distances are computed, whichever are asked for, and all heat for the
# weights of views.
ALL_DISTANCES = 4_096
# Numbers of nearest vertices at once: on the way there are several times as many candidates. More are refused.
NEAREST_VERTICES = 40_000_000
# Parts of a graph that only weights too small to be seen beside the others join; more are refused.
WEAKLY_JOINED_PARTS = 2_000
# Up to this many vertices a layout looks at all pairs of distances (t-SNE); above, at those of groups of vertices.
LAYOUT = 1_500

# Up to this many vertices Q(t) and its derivative come from an eigendecomposition, above from Chebyshev series.
SPECTRAL_CORRELATION = 200

# ---------------------------------------------------------------- methods

# Up to this many vertices in every graph coupling tries three routes, above only "times".
ALL_ROUTES = 300
# Above the first number of vertices, times="auto" of couple chooses two short times; above the second, a single one.
FEWER_TIMES = 5_000
ONE_TIME = 50_000

# Dense matrices of this size are 0.5 GB each, and there are a dozen of them on the way; larger ones are refused.
DENSE_METHODS = 8_000
# Modes of every graph; more are refused.
MODES = 1_000
# Vertices of a graph that look for their counterparts while a match is refined: a sample, if there are more.
MATCHED_VERTICES = 5_000
# Up to this many rows k-means is restarted often.
KMEANS_ROWS = 5_000
# Up to this many vertices clusters of a common graph are found by k-means on rows of the heat kernel, beyond by modes.
HEAT_CLUSTERS = 4_096
# Up to this many vertices coupling by pairs computes heat from all of them to see which edges it supports; beyond, heat
# is estimated from random functions.
EXACT_SUPPORT = 8_192
# Up to this many vertices of all graphs a notebook shows a coupling with its picture.
PICTURED_VERTICES = 400
# Newton steps of a joint diagonalization: (rows up to which, steps).
NEWTON_STEPS = ((500, 200), (1_000, 60))
# Vertices, and edges of all graphs, that the search for valid commuting Laplacians can take; more are refused.
COMMUTING_VERTICES = 2_000
COMMUTING_EDGES = 20_000
# Up to this many edges that search uses dense curvature; beyond, until enough are cut, none.
COMMUTING_DENSE_EDGES = 1_200
# Up to this many edges commutators that are nearly zero are brought to zero by corrections, which are dense too.
COMMUTING_CORRECTED_EDGES = 5_000
# More starts of that search where they cost little: (edges of all graphs up to which, restarts).
COMMUTING_RESTARTS = ((100, 192), (200, 144), (400, 48), (1_000, 12))

# Restarts, steps and splits that are asked for; more are refused, since they would not end.
REPETITIONS = 1_000_000

# ---------------------------------------------------------------- evaluate

# Pairs of a cluster and a class, which make a dense table; more are refused.
CLUSTER_TABLE = 100_000_000

# ---------------------------------------------------------------- viewer

# Vertices and edges of a graph in a page of the viewer; of larger graphs a part is shown, and the page says so.
VIEWER_VERTICES = 50_000
VIEWER_EDGES = 500_000
# Vertices of a graph up to which a page says how far each view is believed about an item: some seconds of work.
VIEWER_WEIGHTS = 5_000
# Bytes of a page: where more would be needed numbers are shorter, then less is shown; the page says so.
PAGE_BYTES = 25_000_000
# Functions to choose from in a page, and in one that shows graphs in part, which holds heat from each of them.
PAGE_FUNCTIONS = 64
REDUCED_FUNCTIONS = 6
# Classes with a color of their own in a page: those with most vertices; the others are one more.
PAGE_CLASSES = 100
# Characters of all names of items in a page; with more, names are shortened further.
PAGE_NAMES = 4_000_000
# Bytes of a picture of an item; larger ones are refused.
THUMBNAIL_BYTES = 65_536
# Bytes of a page that a notebook shows in a cell, and stores with it; a larger one is opened or saved.
INLINE_PAGE_BYTES = 10_000_000
