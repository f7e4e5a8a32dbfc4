"""Problems, contestants and one judge; figures are ratios measured side by side in one run."""
