"""The paper's experiments and some beyond it, one file each: data, run, judge, draw, compare."""
