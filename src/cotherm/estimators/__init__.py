"""The scikit-learn face: estimators that take views, couple their graphs and embed or cluster what comes out.

As X is given, so is the answer: one array, its columns split into views by ``view_columns``, gives arrays; a list of
views gives lists.
"""

from cotherm.estimators.closest_commuting import ClosestCommuting
from cotherm.estimators.coupled_bases import CoupledBases
from cotherm.estimators.heat_kernel_coupling import HeatKernelCoupling
from cotherm.estimators.joint_diagonalization import JointDiagonalization
from cotherm.estimators.laplacian_average import LaplacianAverage

__all__ = ["ClosestCommuting", "CoupledBases", "HeatKernelCoupling", "JointDiagonalization", "LaplacianAverage"]
