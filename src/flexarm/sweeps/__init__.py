"""Many runs: what varies, how they are computed together, and what is kept of them."""
