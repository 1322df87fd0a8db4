"""Members of a sweep in SIMD lanes and threads."""
