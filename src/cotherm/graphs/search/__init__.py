"""Who is near whom: nearest neighbors and points within a radius, exact or approximate."""
