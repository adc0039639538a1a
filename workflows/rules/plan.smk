rule plan:
    input:
        "config/config.yaml",
        "studies/{study}/study.yaml",
        "studies/{study}/claims.yaml",
    output:
        "results/{study}/plan.json",
    log:
        "results/logs/plan/{study}.log",
    params:
        scale=FLOW.scale_digest,
    shell:
        "zassay plan {wildcards.study} 2>&1 | tee {log}"
