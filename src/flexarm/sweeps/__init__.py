"""Many runs: plans, members, stores, statistics and sensitivities."""
