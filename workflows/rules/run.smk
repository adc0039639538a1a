# One job is one block: it holds the whole host, keeps the plan's order, and resumes after any interruption.
rule run:
    input:
        "results/{study}/facts.json",
        lambda wildcards: FLOW.image_files(wildcards.study),
        ancient(lambda wildcards: FLOW.block_before(wildcards.study, wildcards.block)),
        plan="results/{study}/plan.json",
    output:
        "results/{study}/run/block-{block}.json",
    log:
        "results/logs/run/{study}/block-{block}.log",
    priority: 100
    resources:
        host=zassay.workflow.HOST_POOL,
    shell:
        "zassay run {wildcards.study} --block {wildcards.block} --done {output} --log {log}"
