"""Heat kernel coupling: couple() = options -> solve -> report; the cost, the continuation, the result and its file."""
