"""From deal numbers to certified rows, pools and Daily holes; queries, statistics, checks and repair."""
