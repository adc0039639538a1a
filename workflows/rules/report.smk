rule report:
    input:
        expand(
            "results/{study}/{file}",
            study=FLOW.studies,
            file=["verdicts.csv", "facts.json", "timing.json", "figures/GA.svg"],
        ),
        FLOW.every_image,
        FLOW.analysis,
    output:
        "results/report.html",
    log:
        "results/logs/report/report.log",
    params:
        studies=",".join(FLOW.studies),
    shell:
        "analysis/exec/report --results results --studies {params.studies} --out {output} 2>&1 | tee {log}"
