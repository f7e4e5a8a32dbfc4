"""The paper's Man: one human body in two poses (TOSCA), hands apart and hands joined."""

from __future__ import annotations

import os

from cotherm import checks
from cotherm.datasets.body import farthest_points, nearest, two_poses
from cotherm.datasets.directory import locate
from cotherm.datasets.views import Views
from cotherm.graphs.files import read_mesh

_JOINED, _APART = "tosca/michael13.off", "tosca/michael7.off"
# A vertex in each hand: the meshes number the same body alike in all poses.
_HANDS = (37809, 28945)


def man(n: int = 500, *, data: str | os.PathLike[str] | None = None) -> Views:
    """n farthest-point samples of the body in both poses, five nearest neighbours, a bump on each hand.

    In the first graph the hands touch and 26 of its edges (for n = 500) join them: ``wrong``. The bumps come from the
    second, where they do not. :func:`human` is like it and needs no data.

    Parameters
    ----------
    n : samples, the same points of the body in both poses.
    data : the directory with tosca/michael7.off and tosca/michael13.off; else the environment variable COTHERM_DATA.
    """
    joined, apart = (read_mesh(locate(name, data)).vertices for name in (_JOINED, _APART))
    n = checks.integer("n", n, least=50, most=len(apart))
    samples = farthest_points(apart, n)
    hands = [nearest(apart[samples], apart[v]) for v in _HANDS]
    return two_poses("man", joined[samples], apart[samples], hands)
