"""Tests of the web server: the event stream, live pages, requests that are cut off."""
