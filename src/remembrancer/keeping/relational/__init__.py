"""The Store protocol over SQL, shared by the dialects: rows, batches, snapshots, jobs."""
