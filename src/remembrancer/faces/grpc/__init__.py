"""The gRPC face: the package `hebbs.v1`, health and reflection."""
