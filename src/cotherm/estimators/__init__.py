"""The scikit-learn estimator: views in, their graphs coupled, items embedded and clustered, and new ones placed."""

from cotherm.estimators.heat_kernel_coupling import HeatKernelCoupling

__all__ = ["HeatKernelCoupling"]
