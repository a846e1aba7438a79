"""Alerts: what is said of a change, and the channels that it is sent through."""
