rule dataset:
    input:
        "results/{study}/parsed",
        FLOW.sources("dataset", "series", "timing", "workloads", "collectors"),
        plan="results/{study}/plan.json",
    output:
        "results/{study}/dataset.csv",
        "results/{study}/datapackage.json",
        "results/{study}/timing.json",
    log:
        "results/logs/dataset/{study}.log",
    shell:
        "zassay dataset {wildcards.study} 2>&1 | tee {log}"
