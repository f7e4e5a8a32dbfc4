"""Coupling graphs by pairs of items: functions, edges and strength are chosen from the pairs, without labels."""
