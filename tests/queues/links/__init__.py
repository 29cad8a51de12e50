"""Flow control: endings, expiry, debounce, limits, fairness."""
