"""What runs models: in this process, behind a server, or from a record.

Importing any module here loads no model library; the constructors (`load`) do.
"""
