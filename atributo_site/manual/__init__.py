"""The pages of docs/, found on the disk and rendered by the site itself, so they work offline."""
