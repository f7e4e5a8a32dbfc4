"""Heat kernel coupling: the verb, its cost, the routes, the run, the answer and its file."""
