# bundle.json names the newest bundle, results/bundles/<campaign>-<version>.zip, and its digests.
rule bundle:
    input:
        "results/report.html",
        "results/report.pdf",
        "CITATION.cff",
        FLOW.sources("bundle"),
    output:
        "results/bundle.json",
    log:
        "results/logs/bundle/bundle.log",
    shell:
        "zassay bundle 2>&1 | tee {log}"
