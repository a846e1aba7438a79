"""Labelling: assignments, queues, sessions, sheets, adjudication and planning."""
