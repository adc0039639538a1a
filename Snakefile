# zassay: published ZFS performance studies, asked again. Stages in order; the words are explained in README.md.
from snakemake.utils import min_version

import zassay.workflow

min_version("9.0")


configfile: "config/config.yaml"


# Refuses with one line and its fix when something is missing, and names this process to the jobs that must end with it.
FLOW = zassay.workflow.start(workflow.global_resources)


wildcard_constraints:
    study="[a-z0-9-]+",
    image="[a-z0-9.-]+",
    block="[0-9]+",


include: "workflows/rules/image.smk"
include: "workflows/rules/machine.smk"
include: "workflows/rules/plan.smk"
include: "workflows/rules/run.smk"
include: "workflows/rules/parse.smk"
include: "workflows/rules/dataset.smk"
include: "workflows/rules/estimate.smk"
include: "workflows/rules/report.smk"
include: "workflows/rules/bundle.smk"


rule all:
    default_target: True
    input:
        "results/report.html",
        "results/report.pdf",
        "results/bundle.json",
