"""One Daily hole per date, published once. May import deals, work and store; knows nothing of pools."""
