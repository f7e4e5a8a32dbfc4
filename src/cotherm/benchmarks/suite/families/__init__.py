"""One file a family: its problems, its contestants, and the one judge of all of them."""

NAMES = ("surgery", "correspondence", "heat", "diagonalize", "clusters", "neighbours")
