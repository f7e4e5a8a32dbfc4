"""Who is near whom: nearest neighbours and points within a radius, exact or approximate."""
