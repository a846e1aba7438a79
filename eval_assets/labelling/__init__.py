"""Labelling by people: assignments, queues, sessions, sheets, adjudication and planning."""
