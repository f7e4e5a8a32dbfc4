"""Closest commuting operators: the verb, the cost of not commuting, the search among valid Laplacians."""
