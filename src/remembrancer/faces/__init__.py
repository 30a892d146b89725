"""How the outside comes in: translate, authorise, nothing else."""
