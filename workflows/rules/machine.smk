rule machine:
    input:
        lambda wildcards: FLOW.image_files(wildcards.study),
    output:
        "results/{study}/facts.json",
    log:
        "results/logs/machine/{study}.log",
    resources:
        host=zassay.workflow.HOST_POOL,
    shell:
        "zassay machine {wildcards.study} --out {output} 2>&1 | tee {log}"
