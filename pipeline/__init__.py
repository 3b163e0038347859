"""From shuffle numbers to certified rows, the catalog and the Daily hole."""
