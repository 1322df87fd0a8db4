"""Several members at once: vectors of the processor, batches that share their steps, threads."""
