"""Runs the shell steps of a GitHub workflow as its runners do: workflow.py FILE [STEP TO LEAVE OUT]...

Ends with 1 if a step failed. Steps after it run only where they say `if: always()`. Steps that use an action are
checked to name one with its version, and printed."""

import re
import subprocess
import sys

import yaml


def steps(path):
    with open(path) as file:
        workflow = yaml.safe_load(file)
    # YAML reads the bare word `on` as a truth value.
    assert workflow.get("on") or workflow.get(True), "when it runs"
    for job in workflow["jobs"].values():
        assert job["runs-on"], "where it runs"
        yield from job["steps"]


def main(path, *left_out):
    failed = False
    for step in steps(path):
        unknown = set(step) - {"name", "uses", "run", "if", "with"}
        assert not unknown and ("uses" in step) != ("run" in step), step
        if step.get("name") in left_out or failed and step.get("if") != "always()":
            continue
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+@v\d+", step["uses"]), step["uses"]
            print("uses:", step["uses"], flush=True)
            continue
        ended = subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], stderr=subprocess.STDOUT)
        failed = failed or ended.returncode != 0
    return int(failed)


sys.exit(main(*sys.argv[1:]))
