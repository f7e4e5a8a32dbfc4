"""Which vertex of one graph is which of another."""
