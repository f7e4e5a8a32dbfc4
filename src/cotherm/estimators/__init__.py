"""Scikit-learn estimators: they take views, couple their graphs, and embed or cluster the result.

If X is one array, with columns split into views by ``view_columns``, the results are arrays. If X is a list of views,
the results are lists.
"""

from cotherm.estimators.closest_commuting import ClosestCommuting
from cotherm.estimators.coupled_bases import CoupledBases
from cotherm.estimators.heat_kernel_coupling import HeatKernelCoupling
from cotherm.estimators.joint_diagonalization import JointDiagonalization
from cotherm.estimators.laplacian_average import LaplacianAverage

__all__ = ["ClosestCommuting", "CoupledBases", "HeatKernelCoupling", "JointDiagonalization", "LaplacianAverage"]
