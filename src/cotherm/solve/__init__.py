"""Bounded nonlinear least squares whose residuals are few and whose unknowns are many."""
