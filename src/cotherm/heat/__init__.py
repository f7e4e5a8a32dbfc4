"""Graph -> heat: e^{−tL}, with L = D − W as given and t as given, on every graph."""
