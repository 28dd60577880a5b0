"""Batches as durable jobs of the service: what a kill interrupts goes on, and no result is written twice."""
