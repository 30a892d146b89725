"""`python -m remembrancer`: the command line."""

from .faces.cli.main import run

if __name__ == "__main__":
    run()
