rule parse:
    input:
        lambda wildcards: FLOW.blocks_done(wildcards.study),
        FLOW.sources(
            "readers",
            "record",
            "ledger",
            "parse",
            "gates",
            "workloads",
            "filesystems",
            "collectors",
            "tools",
        ),
    output:
        directory("results/{study}/parsed"),
    log:
        "results/logs/parse/{study}.log",
    shell:
        "zassay parse {wildcards.study} 2>&1 | tee {log}"
